import type { UnlinkedEntry } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'
import { findUnusedReceipts } from '../policy-receipts/store.ts'
import { fromLines, linkedText } from './entry-text.ts'
import { listed, type EvidenceRequest, type Listed, type Mark, type Paging } from './evidence-page.ts'

/**
 * AUD-02: the audit entries of the sender's policy receipts that no package refers to. They are in no chain, and were
 * recorded when the receipt was accepted.
 */
export async function unlinkedEntries(
  queries: Queries,
  { threadId, organizationId }: EvidenceRequest,
  paging: Paging,
): Promise<Listed<UnlinkedEntry, Mark>> {
  const [acceptedAt, rest] = paging.mark
  const [auditEventId = '', shown = '0'] = rest.split(':')
  const { receipts, lookedUntil } = await findUnusedReceipts(queries, {
    threadId,
    organizationId,
    from: { acceptedAt, auditEventId },
    // One of them may have been shown, and one shows that there is more.
    limit: paging.limit + 2,
  })
  const entries = receipts.flatMap(({ audit_entries, accepted_at, audit_event_id }) =>
    entriesOf(audit_entries, accepted_at)
      .map((entry, index) => ({ entry, mark: markOf(accepted_at, audit_event_id, index + 1) }))
      .slice(audit_event_id === auditEventId ? Number(shown) : 0),
  )
  const page = listed(entries, paging, { item: ({ entry }) => entry, markOf: ({ mark }) => mark })
  if (page.hasMore || !lookedUntil) return page
  // Most receipts of a long thread are in use: a page then ends before it is full.
  const end = markOf(lookedUntil.accepted_at, lookedUntil.audit_event_id, Infinity)
  return { ...page, end, hasMore: true }
}

/** Behind so many entries of a receipt. */
function markOf(acceptedAt: string, auditEventId: string, shown: number): Mark {
  return [acceptedAt, `${auditEventId}:${shown}`]
}

function entriesOf(lines: string, recordedAt: string): UnlinkedEntry[] {
  return fromLines(lines).map((text) => {
    const linked = linkedText(text, { position: 0, previous: null, recordedAt })
    const { event, proof } = JSON.parse(linked) as UnlinkedEntry
    const { previous_hash: _none, ...own } = proof as UnlinkedEntry['proof'] & { previous_hash: null }
    return event ? { event, proof: own } : { proof: own }
  })
}
