import { createHash } from 'node:crypto'
import { decodeBase64url, verifyPackageStatement, type StatementForm } from '@agent-exchange/crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { Call } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireAgent } from '../../kernel/roles.ts'
import { holdKeys, lockNameOf, publicKeyOf, verified } from '../keys/public-keys.ts'
import { requireSigningKey } from '../keys/signing-key.ts'

/** The first half of r||s on P-256. */
const R_BYTES = 32

type StatementCall = Call<'createPackageReceipt'> | Call<'revokePackage'>

/** Checks the signature of a receipt or revocation by an agent of the caller's, and says what it covers (O-22). */
export async function verifyStatement(
  call: StatementCall,
  agentId: string,
  db: Database,
): Promise<StatementForm> {
  requireAgent(call.caller, agentId)
  const name = { agentId, keyId: call.body.signature.key_id }
  const publicKey = await publicKeyOf(db, call.caller.organizationId, name)
  const accept = call.context.profile['O-22'].accepted_forms
  return verified(verifyPackageStatement(call.body, { packageId: call.params.package_id, publicKey, accept }))
}

/** ID-05 for a statement, and the promise that its signature belongs to this package only. */
export async function requireStatementKey(
  tx: Transaction,
  call: StatementCall,
  agentId: string,
  claimedAt: string,
): Promise<void> {
  const name = { agentId, keyId: call.body.signature.key_id }
  const keys = await holdKeys(tx, [name])
  requireSigningKey(keys.get(lockNameOf(name)), claimedAt, call.now)
}

/**
 * The same signature under a second package is refused: a plain one names no package by itself. Anyone can turn
 * an ECDSA signature (r, s) into (r, n - s), which holds too, so that r alone stands for it.
 */
export async function keepSignature(tx: Transaction, call: StatementCall): Promise<void> {
  const { package_id: packageId } = call.params
  const r = decodeBase64url(call.body.signature.signature).subarray(0, R_BYTES)
  const hash = createHash('sha256').update(r).digest()
  const [row] = await tx<{ package_id: string }[]>`
    insert into statement_signature (signature_hash, package_id) values (${hash}, ${packageId})
    on conflict (signature_hash) do update set package_id = statement_signature.package_id
    returning package_id`
  if (row?.package_id !== packageId) throw new Problem('signature_reused')
}
