import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { findThreadOfParty } from '../threads/store.ts'
import { evidencePage } from './evidence-page.ts'

/** AUD-01: what happened in a thread, as far as the caller is a party to it. */
export const getThreadAuditEvidence: Read<'getThreadAuditEvidence'> = async (call, db) => {
  const { caller, params, query, now, context } = call
  const { organizationId } = caller
  const thread = await findThreadOfParty(db, params.thread_id, organizationId)
  if (!thread) throw new Problem('resource_not_found')
  const page = await evidencePage(db, { threadId: thread.thread_id, organizationId, query, now, context })
  return { thread_id: thread.thread_id, ...page }
}
