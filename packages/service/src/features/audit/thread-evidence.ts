import type { ReplicaRead } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { findThreadOfParty } from '../threads/store.ts'
import { chainPage, entryLists, pagingOf } from './evidence-page.ts'
import { unlinkedEntries } from './unlinked-entries.ts'

/**
 * AUD-01: the audit entries of a thread that the caller is a party to. A sender also gets those of its policy receipts
 * that no package refers to (AUD-02), even if the thread does not exist.
 */
export const getThreadAuditEvidence: ReplicaRead<'getThreadAuditEvidence'> = async (call, db) => {
  const { caller, params, query, now, context, pause } = call
  const { organizationId } = caller
  const request = { threadId: params.thread_id, organizationId, query, context, pause }
  const paging = pagingOf(request)
  const thread = await findThreadOfParty(db, params.thread_id, organizationId)
  const [chain, unlinked] = await Promise.all([
    // A thread of other organizations is treated as unknown.
    thread ? chainPage(db, request, paging) : { items: [], end: paging.position, hasMore: false },
    unlinkedEntries(db, request, paging),
  ])
  if (!thread && paging.isFirst && unlinked.items.length === 0) throw new Problem('resource_not_found')
  return {
    thread_id: params.thread_id,
    generated_at: now,
    ...entryLists(chain.items),
    unlinked_entries: [...unlinked.items],
    ...paging.after(chain, unlinked),
  }
}
