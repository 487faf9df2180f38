import type { Database, Queries, Transaction } from '@agent-exchange/database'
import { ExchangeError } from '@agent-exchange/sdk'
import type { DraftAuthor } from '../approvals/draft-authors.ts'
import { GatewayProblem } from '../problems.ts'
import { lockPart } from '../stores/agent-lock.ts'
import { deleteDrafts } from '../stores/draft-store.ts'

/** Drafts that programs, systems and models, wrote for an agent. */

/** Open drafts of one program, of the 100 that an agent has room for. */
export const MAXIMUM_DRAFTS_OF_PROGRAM = 50
/** Open drafts of all programs together. The rest is for people. */
const MAXIMUM_DRAFTS_OF_PROGRAMS = 80
/** A draft of a program that was not sent is deleted after this time. */
const DRAFT_DAYS = 14
const DAY_MS = 86_400_000
const DELETED_A_RUN = 1_000

interface ProgramDraft {
  readonly agentId: string
  readonly draftId: string
  readonly author: DraftAuthor
}

/** Refuses a new draft beyond the share of its author. The caller holds the lock of the drafts of the agent. */
export async function requireShare(
  tx: Transaction,
  { agentId, draftId, author }: ProgramDraft,
): Promise<void> {
  if (author.kind === 'person') return
  const [row] = await tx<{ own: number; programs: number; authors: number }[]>`
    select count(distinct draft_id) filter (where author_id = ${author.id})::integer as own,
      count(distinct draft_id)::integer as programs,
      (select count(*)::integer from draft_author where agent_id = ${agentId} and draft_id = ${draftId}) as authors
    from agent_draft join draft_author using (agent_id, draft_id)
    where agent_id = ${agentId} and sent_at is null and author_kind <> 'person'`
  const { own = 0, programs = 0, authors = 1 } = row ?? {}
  // Somebody else wrote the same draft: it takes no further room.
  if (authors > 1) return
  if (own > MAXIMUM_DRAFTS_OF_PROGRAM)
    throw new GatewayProblem('draft_limit', { of: 'system', maximum: MAXIMUM_DRAFTS_OF_PROGRAM })
  if (programs > MAXIMUM_DRAFTS_OF_PROGRAMS)
    throw new GatewayProblem('draft_limit', { of: 'systems', maximum: MAXIMUM_DRAFTS_OF_PROGRAMS })
}

/** Fails like an unknown draft if a person wrote it, or nobody knows who: a program sees drafts of programs only. */
export async function requireProgramDraft(db: Queries, agentId: string, draftId: string): Promise<void> {
  if (!(await programDrafts(db, agentId, [draftId])).has(draftId))
    throw new ExchangeError('draft_missing', { details: { draftId } })
}

/** Those of the drafts that only programs wrote. */
export async function programDrafts(
  db: Queries,
  agentId: string,
  draftIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db<{ draft_id: string }[]>`
    select draft_id from draft_author where agent_id = ${agentId} and draft_id = any(${[...draftIds]})
    group by draft_id having bool_and(author_kind <> 'person')`
  return new Set(rows.map(({ draft_id }) => draft_id))
}

/** Deletes old drafts of programs that were not sent, so that they use up no room for ever. */
export async function deleteOldProgramDrafts(db: Database, now: Date): Promise<number> {
  const before = new Date(now.getTime() - DRAFT_DAYS * DAY_MS).toISOString()
  const old = await db<{ agent_id: string; draft_id: string }[]>`
    select agent_id, draft_id from agent_draft join draft_author using (agent_id, draft_id)
    where sent_at is null and created_at < ${before}
    group by agent_id, draft_id having bool_and(author_kind <> 'person') limit ${DELETED_A_RUN}`
  for (const { agent_id, draft_id } of old)
    await db.begin(async (tx) => {
      await lockPart(tx, 'drafts', agent_id)
      await deleteDrafts(tx, agent_id, [draft_id])
    })
  return old.length
}
