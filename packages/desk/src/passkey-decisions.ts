import type { StoredDraft } from '@agent-exchange/sdk'

/** How the person of a session decides about drafts of an agent with a passkey. Failures are a `DeskRefusal`. */
export interface PasskeyDecisions {
  state(draft: StoredDraft): Promise<DecisionState>
  /** Who decided about a draft, also after it was sent. */
  recorded(draftId: string): Promise<readonly RecordedDecision[]>
  /** What `navigator.credentials.get` needs, as JSON. */
  options(asked: {
    readonly draftId: string
    readonly digest: string
    readonly decision: string
  }): Promise<object>
  /** `answer`: JSON of the browser's credential. */
  confirm(given: {
    readonly draftId: string
    readonly digest: string
    readonly answer: string
    readonly reason: string
  }): Promise<'approved' | 'declined'>
}

export interface RecordedDecision {
  readonly person: string
  readonly onBehalfOf?: string | undefined
  readonly decision: 'approved' | 'declined'
  readonly at: string
  readonly reason: string
}

export interface DecisionState {
  /** Oldest first. */
  readonly decisions: readonly RecordedDecision[]
  /** What the rules ask for, in sentences. */
  readonly needs: readonly string[]
  /** Why this person cannot decide. */
  readonly hindrance?: string | undefined
}
