import type { Fetch } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import type { Place } from './next-step.ts'

/** Input of the checks. */
export interface Subject {
  readonly agent: FolderAgent
  readonly exchangeFetch: Fetch
  /** Certificate authority of the exchange, PEM. */
  readonly authority: string | undefined
  /** For printed commands. */
  readonly place: Place
}

/** One check; the checks are ordered by dependency. */
export interface Examination {
  readonly name: string
  /** Returns what is right. Throws a sentence that says what is wrong and what to do. */
  examine(subject: Subject): Promise<string>
}
