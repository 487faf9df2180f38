import { isEarlier, type PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'
import type { KeyName } from '../keys/public-keys.ts'
import type { PackageRow } from '../packages/store.ts'
import type { PolicyReceiptRow } from '../policy-receipts/store.ts'

/** A key that signed the package, its policy receipt, a receipt or the revocation, and when that was last accepted. */
export interface KeyUse extends KeyName {
  readonly acceptedAt: string
}

/** Every key that signed something about the package, whoever's it is (O-46). */
export async function keyUsesOf(
  queries: Queries,
  row: PackageRow,
  policyReceipt: PolicyReceiptRow,
): Promise<KeyUse[]> {
  const statements = await queries<KeyUse[]>`
    select actor_agent_id as "agentId", signing_key_id as "keyId", max(accepted_at) as "acceptedAt"
    from package_receipt where package_id = ${row.package_id} group by actor_agent_id, signing_key_id
    union all
    select agent_id, body::json #>> '{signature,key_id}', revoked_at
    from package_revocation where package_id = ${row.package_id}`
  return [
    {
      agentId: row.sender_agent_id,
      keyId: policyReceipt.signing_key_id,
      acceptedAt: policyReceipt.accepted_at,
    },
    { agentId: row.sender_agent_id, keyId: row.signing_key_id, acceptedAt: row.accepted_at },
    ...statements,
  ]
}

/** ID-05: accepted although the key was already bad, because nobody had said so yet. */
export function suspicion(
  { agent_id, key }: PackageEvidence['key_history'][number],
  uses: readonly KeyUse[],
): { accepted_after_invalid_from?: boolean } {
  const own = uses.filter(({ agentId, keyId }) => agentId === agent_id && keyId === key.key_id)
  if (own.length === 0 || key.invalid_from === undefined) return {}
  return {
    accepted_after_invalid_from: own.some(
      ({ acceptedAt }) => isEarlier(acceptedAt, key.invalid_from) === false,
    ),
  }
}
