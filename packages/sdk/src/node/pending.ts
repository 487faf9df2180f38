import type { Drafts, StoredDraft } from '../drafts/draft.ts'
import type { Outbox, OutboxEntry } from '../outbox/outbox.ts'
import type { Inbox } from '../receive/inbox.ts'

/** Entries of the outbox that are listed. */
const MAXIMUM_LISTED = 1_000

/** What waits in an agent's folder, and for whom. */
export interface Pending {
  /** Drafts that a person has to decide about at the desk. */
  readonly forPerson: readonly StoredDraft[]
  /** Drafts that can be sent now: approved, or without need of an approval. */
  readonly toSend: readonly StoredDraft[]
  /** Sealed packages that the exchange has not accepted yet: `resume` sends them. */
  readonly sealed: readonly Pick<OutboxEntry, 'packageId' | 'state' | 'createdAt'>[]
  /** Received events that no handler has processed yet, and those that were set aside. */
  readonly events: number
  readonly setAside: number
}

export async function readPending(drafts: Drafts, outbox: Outbox, inbox: Inbox): Promise<Pending> {
  const [open, sealed, position] = await Promise.all([
    drafts.list(),
    outbox.pending(MAXIMUM_LISTED),
    inbox.position(),
  ])
  return {
    forPerson: open.filter(({ state, approvalRequired }) => approvalRequired && isUndecided(state)),
    toSend: open.filter(({ state }) => state === 'ready' || state === 'approved'),
    sealed: sealed.map(({ packageId, state, createdAt }) => ({ packageId, state, createdAt })),
    events: position.pending,
    setAside: position.setAside,
  }
}

function isUndecided(state: StoredDraft['state']): boolean {
  return state === 'waiting' || state === 'void'
}
