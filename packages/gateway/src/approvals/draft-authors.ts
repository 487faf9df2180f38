import type { Queries } from '@agent-exchange/database'

/** Owner of the table draft_author. */

export interface DraftAuthor {
  readonly kind: 'person' | 'system' | 'model'
  readonly id: string
}

const MAXIMUM_AUTHORS = 100

/** The same content is the same draft, so that a draft can have several authors. */
export async function recordAuthor(
  db: Queries,
  { agentId, draftId, author }: { agentId: string; draftId: string; author: DraftAuthor },
): Promise<void> {
  await db`
    insert into draft_author (agent_id, draft_id, author_kind, author_id)
    values (${agentId}, ${draftId}, ${author.kind}, ${author.id}) on conflict do nothing`
}

/** People among the authors. */
export async function personsWhoDrafted(db: Queries, agentId: string, draftId: string): Promise<string[]> {
  const rows = await db<{ author_id: string }[]>`
    select author_id from draft_author
    where agent_id = ${agentId} and draft_id = ${draftId} and author_kind = 'person' limit ${MAXIMUM_AUTHORS}`
  return rows.map(({ author_id }) => author_id)
}
