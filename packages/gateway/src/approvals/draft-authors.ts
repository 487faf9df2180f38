import type { Queries, Transaction } from '@agent-exchange/database'
import type { Caller } from '../systems/verbs.ts'

/** Owner of the tables draft_author and draft_token_holder. */

export interface DraftAuthor {
  readonly kind: 'person' | 'system' | 'model'
  readonly id: string
  /** Whom the token of a program or a model names. A person whom the provider signs in by this name wrote the draft. */
  readonly holder?: TokenHolder
}

/** The claims `iss` and `sub` of an access token. */
export interface TokenHolder {
  readonly issuer: string
  readonly subject: string
}

export const authorOf = ({ kind, id, holder }: Caller): DraftAuthor => ({
  kind,
  id,
  ...(holder && { holder }),
})

const MAXIMUM_AUTHORS = 100

/** The same content is the same draft, so that a draft can have several authors. */
export async function recordAuthor(
  tx: Transaction,
  { agentId, draftId, author }: { agentId: string; draftId: string; author: DraftAuthor },
): Promise<void> {
  await tx`
    insert into draft_author (agent_id, draft_id, author_kind, author_id)
    values (${agentId}, ${draftId}, ${author.kind}, ${author.id}) on conflict do nothing`
  if (author.holder)
    await tx`
      insert into draft_token_holder (agent_id, draft_id, issuer, subject)
      values (${agentId}, ${draftId}, ${author.holder.issuer}, ${author.holder.subject}) on conflict do nothing`
}

/** Drafts of an earlier version, or that moved in with an agent, may have none. */
export async function hasAuthor(db: Queries, agentId: string, draftId: string): Promise<boolean> {
  const rows = await db`
    select from draft_author where agent_id = ${agentId} and draft_id = ${draftId} limit 1`
  return rows.length > 0
}

/** People among the authors, by the desk or by a token of their own. */
export async function personsWhoDrafted(db: Queries, agentId: string, draftId: string): Promise<string[]> {
  const rows = await db<{ author_id: string }[]>`
    select author_id from draft_author
    where agent_id = ${agentId} and draft_id = ${draftId} and author_kind = 'person'
    union
    select person_id from draft_token_holder join person using (issuer, subject)
    where agent_id = ${agentId} and draft_id = ${draftId} limit ${MAXIMUM_AUTHORS}`
  return rows.map(({ author_id }) => author_id)
}
