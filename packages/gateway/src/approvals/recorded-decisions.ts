import type { Database } from '@agent-exchange/database'
import type { SecretBox } from '../stores/secret-box.ts'
import { reasonContext, listDecisions } from './decision-rows.ts'
import { parseStatement } from './decision-statement.ts'

/** What people of the company read about a decision. */
export interface RecordedDecision {
  readonly person: string
  readonly onBehalfOf: string | undefined
  readonly decision: 'approved' | 'declined'
  readonly at: string
  readonly reason: string
}

export interface RecordedDecisionParts {
  readonly db: Database
  readonly box: SecretBox
  readonly namesOf: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

/** Who decided about a draft, oldest first. The draft itself may be sent or gone. */
export async function recordedDecisions(
  { db, box, namesOf }: RecordedDecisionParts,
  agentId: string,
  draftId: string,
): Promise<readonly RecordedDecision[]> {
  const rows = (await listDecisions(db, agentId, draftId)).map((row) => ({
    ...row,
    onBehalfOf: parseStatement(row.statement)?.on_behalf_of,
  }))
  const ids = rows.flatMap(({ personId, onBehalfOf }) => [personId, onBehalfOf ?? personId])
  const names = await namesOf([...new Set(ids)])
  const nameOf = (personId: string) => names.get(personId) ?? personId
  return rows.map(({ personId, onBehalfOf, decision, reference, reason, answeredAt }) => ({
    person: nameOf(personId),
    onBehalfOf: onBehalfOf === undefined ? undefined : nameOf(onBehalfOf),
    decision,
    at: answeredAt,
    reason: reason ? Buffer.from(box.open(reasonContext(agentId, reference), reason)).toString() : '',
  }))
}
