import type { Database } from '@agent-exchange/database'
import type { SecretBox } from '../stores/secret-box.ts'
import { reasonContext, listDecisions } from './decision-rows.ts'
import { parseStatement } from './decision-statement.ts'
import type { DecisionsView } from './draft-decisions.ts'

export interface RecordedDecisionParts {
  readonly db: Database
  readonly box: SecretBox
  readonly namesOf: (personIds: readonly string[]) => Promise<ReadonlyMap<string, string>>
}

/** Who decided about a draft. The draft itself may be sent or gone. */
export async function recordedDecisions(
  { db, box, namesOf }: RecordedDecisionParts,
  agentId: string,
  draftId: string,
): Promise<DecisionsView['decisions']> {
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
