import { describeVerdict, readerWith, type VerdictWord } from '@agent-exchange/log'
import type { PackageResource } from '@agent-exchange/protocol'
import { ExchangeError } from '@agent-exchange/sdk'
import type { Tone } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import { REMEMBERED_VERDICTS, VERDICT_VALID_MS, VERDICT_WAIT_MS } from './desk-limits.ts'
import { verifiedEvidence } from './verified-evidence.ts'

/** What the evidence of a thread shows, in a word and a sentence. */
export interface ThreadVerdict {
  readonly word: VerdictWord
  readonly tone: Tone
  readonly sentence: string
}

export interface ThreadVerdicts {
  /** Undefined if the evidence was not collected and verified in time. The next page has it. */
  find(threadId: string, packages: readonly PackageResource[], now: Date): Promise<ThreadVerdict | undefined>
}

interface Remembered {
  readonly state: string
  readonly at: number
  readonly verdict: Promise<ThreadVerdict | undefined>
}

/** Verifies a thread again when a package of it changed, or after a while: the log includes new events later. */
export function createThreadVerdicts(agent: DeskAgent): ThreadVerdicts {
  const remembered = new Map<string, Remembered>()

  function verdictOf(threadId: string, state: string, now: number): Promise<ThreadVerdict | undefined> {
    const known = remembered.get(threadId)
    if (known?.state === state && now - known.at < VERDICT_VALID_MS) return known.verdict
    remembered.delete(threadId)
    const [oldest] = remembered.keys()
    if (remembered.size >= REMEMBERED_VERDICTS && oldest !== undefined) remembered.delete(oldest)
    const verdict = verified(agent, threadId)
    remembered.set(threadId, { state, at: now, verdict })
    return verdict
  }

  return {
    find(threadId, packages, now) {
      const state = packages.map((each) => `${each.package_id} ${each.state}`).join()
      const late = new Promise<undefined>((resolve) => {
        setTimeout(resolve, VERDICT_WAIT_MS, undefined).unref()
      })
      return Promise.race([verdictOf(threadId, state, now.getTime()), late])
    },
  }
}

async function verified(agent: DeskAgent, threadId: string): Promise<ThreadVerdict | undefined> {
  try {
    const { capsule } = await agent.evidence({ threadId })
    const result = await verifiedEvidence(agent, capsule)
    const { sentence, tone } = describeVerdict(result, readerWith(await agent.names()))
    return { word: result.word, sentence, tone }
  } catch (error) {
    if (error instanceof ExchangeError) return undefined
    throw error
  }
}
