import { isEarlier, type PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { historyOf } from '../agents/key-history.ts'
import type { PackageRow } from '../packages/store.ts'
import type { PolicyReceiptRow } from '../policy-receipts/store.ts'

/** A key that signed the package, its policy receipt, a receipt or the revocation. */
interface KeyUse {
  readonly agentId: string
  readonly keyId: string
  readonly acceptedAt: string
}

/** ID-05: the history of exactly those keys that signed the package or a statement about it. */
export async function signingKeysOf(
  db: Queries,
  row: PackageRow,
  policyReceipt: PolicyReceiptRow,
): Promise<PackageEvidence['key_history']> {
  const agentId = row.sender_agent_id
  const uses = [
    { agentId, keyId: policyReceipt.signing_key_id, acceptedAt: policyReceipt.accepted_at },
    { agentId, keyId: row.signing_key_id, acceptedAt: row.accepted_at },
    ...(await statementUses(db, row)),
  ]
  const keys = await historyOf(db, uses)
  return keys.map((history) => ({ ...history, ...invalidityFlag(history, uses) }))
}

/** Flags signatures accepted after `invalid_from`, before the revocation was recorded. */
function invalidityFlag({ agent_id, key }: PackageEvidence['key_history'][number], uses: readonly KeyUse[]) {
  if (key.invalid_from === undefined) return {}
  const own = uses.filter(({ agentId, keyId }) => agentId === agent_id && keyId === key.key_id)
  return {
    accepted_after_invalid_from: own.some(
      ({ acceptedAt }) => isEarlier(acceptedAt, key.invalid_from) === false,
    ),
  }
}

/** The last use of each key in a receipt or the revocation, by any agent (O-46) and on any page. */
function statementUses(db: Queries, { package_id }: PackageRow): Promise<KeyUse[]> {
  return db<KeyUse[]>`
    select actor_agent_id as "agentId", signing_key_id as "keyId", max(accepted_at) as "acceptedAt"
    from package_receipt where package_id = ${package_id} group by actor_agent_id, signing_key_id
    union all
    select agent_id, body::json #>> '{signature,key_id}', revoked_at
    from package_revocation where package_id = ${package_id}`
}
