import { isEarlier, type PackageEvidence } from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import { historyOf } from '../agents/key-history.ts'
import type { PackageRow } from '../packages/store.ts'
import type { PolicyReceiptRow } from '../policy-receipts/store.ts'

/** A signature about the package: the package's own, its policy receipt's, a receipt's or the revocation's. */
interface KeyUse {
  readonly agentId: string
  readonly keyId: string
  readonly acceptedAt: string
}

/** ID-05: the keys that signed the package or anything about it, with all that happened to them; and no other key. */
export async function signingKeysOf(
  db: Database,
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
  return keys.map((history) => ({ ...history, ...suspicion(history, uses) }))
}

/** Accepted although the key was already bad, because nobody had said so yet. */
function suspicion({ agent_id, key }: PackageEvidence['key_history'][number], uses: readonly KeyUse[]) {
  if (key.invalid_from === undefined) return {}
  const own = uses.filter(({ agentId, keyId }) => agentId === agent_id && keyId === key.key_id)
  return {
    accepted_after_invalid_from: own.some(
      ({ acceptedAt }) => isEarlier(acceptedAt, key.invalid_from) === false,
    ),
  }
}

/** Of each key its last use in a receipt or the revocation, whoever's it is (O-46) and whatever page it is on. */
function statementUses(db: Database, { package_id }: PackageRow): Promise<KeyUse[]> {
  return db<KeyUse[]>`
    select actor_agent_id as "agentId", signing_key_id as "keyId", max(accepted_at) as "acceptedAt"
    from package_receipt where package_id = ${package_id} group by actor_agent_id, signing_key_id
    union all
    select agent_id, body::json #>> '{signature,key_id}', revoked_at
    from package_revocation where package_id = ${package_id}`
}
