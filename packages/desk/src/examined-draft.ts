import { ExchangeError, type CheckResult, type SendWarning, type StoredDraft } from '@agent-exchange/sdk'
import type { DeskAgent } from './desk-agent.ts'
import { CHECK_WAIT_MS } from './desk-limits.ts'

/** A draft with what is known about its checks. Only a draft that passes can be approved. */
export interface ExaminedDraft {
  readonly draft: StoredDraft
  readonly checks: readonly CheckResult[]
  readonly warnings: readonly SendWarning[]
  /** `unknown`: the checks could not be evaluated, and `trouble` says why. */
  readonly verdict: 'passes' | 'fails' | 'unknown'
  readonly trouble?: string
}

/** Evaluates the checks. Without the exchange the draft can still be read and declined. */
export async function examineDraft(agent: DeskAgent, draftId: string): Promise<ExaminedDraft> {
  const signal = AbortSignal.timeout(CHECK_WAIT_MS)
  try {
    const { draft, checks, warnings, passed } = await agent.drafts.evaluate(draftId, { signal })
    return { draft, checks, warnings, verdict: passed ? 'passes' : 'fails' }
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.code.startsWith('draft_')) throw error
    const draft = await agent.drafts.get(draftId)
    return { draft, checks: [], warnings: [], verdict: 'unknown', trouble: error.message }
  }
}
