import type { UnlinkedEntry } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { findUnusedReceipts } from '../policy-receipts/store.ts'
import { fromLines, linkedText } from './entry-text.ts'
import { listed, type EvidenceRequest, type Listed, type Mark, type Paging } from './evidence-page.ts'

/**
 * AUD-02: audit entries of the sender's policy receipts that no package refers to. They are not in a chain; their
 * recording time is the acceptance of the receipt.
 */
export async function unlinkedEntries(
  queries: Queries,
  { threadId, organizationId }: EvidenceRequest,
  paging: Paging,
): Promise<Listed<UnlinkedEntry, Mark>> {
  const [acceptedAt, rest] = paging.mark
  const [auditEventId = '', shown = '0'] = rest.split(':')
  const { receipts, scannedUntil } = await findUnusedReceipts(queries, {
    threadId,
    organizationId,
    from: { acceptedAt, auditEventId },
    // One may already be on the previous page, and one shows that more follow.
    limit: paging.limit + 2,
  })
  const entries = receipts.flatMap(({ audit_entries, accepted_at, audit_event_id }) =>
    entriesOf(audit_entries, accepted_at)
      .map((entry, index) => ({ entry, mark: markOf(accepted_at, audit_event_id, index + 1) }))
      .slice(audit_event_id === auditEventId ? Number(shown) : 0),
  )
  const page = listed(entries, paging, { item: ({ entry }) => entry, markOf: ({ mark }) => mark })
  if (page.hasMore || !scannedUntil) return page
  // Most receipts of a long thread are used, so a page may end before it is full.
  const end = markOf(scannedUntil.accepted_at, scannedUntil.audit_event_id, Infinity)
  return { ...page, end, hasMore: true }
}

/** The position after the first `shown` entries of a receipt. */
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
