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

/** The error says why the evidence cannot be collected; `late`: a later page has the verdict. */
export type VerdictOutcome = ThreadVerdict | ExchangeError | 'late'

export interface ThreadVerdicts {
  find(threadId: string, packages: readonly PackageResource[], now: Date): Promise<VerdictOutcome>
}

interface Remembered {
  readonly state: string
  readonly at: number
  readonly verdict: Promise<ThreadVerdict | ExchangeError>
}

/**
 * Verifies a thread again when a package of it changed, or after a while: the log includes new events later. A failure
 * is given to one page, and the next one tries again.
 */
export function createThreadVerdicts(agent: DeskAgent): ThreadVerdicts {
  const remembered = new Map<string, Remembered>()

  function entryOf(threadId: string, state: string, now: number): Remembered {
    const known = remembered.get(threadId)
    if (known?.state === state && now - known.at < VERDICT_VALID_MS) return known
    remembered.delete(threadId)
    const [oldest] = remembered.keys()
    if (remembered.size >= REMEMBERED_VERDICTS && oldest !== undefined) remembered.delete(oldest)
    const entry = { state, at: now, verdict: verified(agent, threadId) }
    remembered.set(threadId, entry)
    return entry
  }

  function forget(threadId: string, entry: Remembered): void {
    if (remembered.get(threadId) === entry) remembered.delete(threadId)
  }

  return {
    async find(threadId, packages, now) {
      const state = packages.map((each) => `${each.package_id} ${each.state}`).join()
      const entry = entryOf(threadId, state, now.getTime())
      const late = new Promise<'late'>((resolve) => {
        setTimeout(resolve, VERDICT_WAIT_MS, 'late').unref()
      })
      try {
        const found = await Promise.race([entry.verdict, late])
        if (found instanceof ExchangeError) forget(threadId, entry)
        return found
      } catch (error) {
        forget(threadId, entry)
        throw error
      }
    },
  }
}

async function verified(agent: DeskAgent, threadId: string): Promise<ThreadVerdict | ExchangeError> {
  try {
    const { capsule } = await agent.evidence({ threadId })
    const result = await verifiedEvidence(agent, capsule)
    const { sentence, tone } = describeVerdict(result, readerWith(await agent.names()))
    return { word: result.word, sentence, tone }
  } catch (error) {
    if (error instanceof ExchangeError) return error
    throw error
  }
}
