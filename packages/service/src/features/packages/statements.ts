import { hash } from 'node:crypto'
import { signatureBytes, verifyPackageStatement, type StatementForm } from '@agent-exchange/crypto'
import type { Database, Transaction } from '@agent-exchange/database'
import type { Call } from '../../kernel/call.ts'
import { requireAgent } from '../../kernel/roles.ts'
import { publicKeyOf, verified, type KeyName } from '../keys/public-keys.ts'

/** Length of r in the P-256 signature r || s. */
const R_BYTES = 32

type StatementCall = Call<'createPackageReceipt'> | Call<'revokePackage'>

/** Verifies a receipt or revocation signed by an agent of the caller; returns what the signature covers (O-22). */
export async function verifyStatement(
  call: StatementCall,
  agentId: string,
  db: Database,
): Promise<StatementForm> {
  requireAgent(call.caller, agentId)
  const name = statementKey(call, agentId)
  const publicKey = await publicKeyOf(db, call.caller.organizationId, name)
  const accept = call.context.profile['O-22'].accepted_forms
  return verified(verifyPackageStatement(call.body, { packageId: call.params.package_id, publicKey, accept }))
}

/** The key that a statement claims. */
export function statementKey({ body }: StatementCall, agentId: string): KeyName {
  return { agentId, keyId: body.signature.key_id }
}

/**
 * Stores new signatures and returns the package that each belongs to: a plain signature names no package, so its reuse
 * for another one is refused. Only r identifies it, because (r, n - s) is valid whenever (r, s) is.
 */
export async function keepSignatures(
  tx: Transaction,
  calls: readonly StatementCall[],
): Promise<(string | undefined)[]> {
  if (calls.length === 0) return []
  const kept = calls.map((call) => ({ name: signatureHash(call), package_id: call.params.package_id }))
  const rows = kept.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  await tx`
    insert into statement_signature (signature_hash, package_id)
    select decode(name, 'hex'), package_id
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (name text, package_id text)
    on conflict (signature_hash) do nothing`
  const owners = await tx<{ name: string; package_id: string }[]>`
    select encode(signature_hash, 'hex') as name, package_id from statement_signature
    where signature_hash = any(array(
      select decode(name, 'hex') from unnest(${kept.map(({ name }) => name)}::text[]) as name))`
  const ownerOf = new Map(owners.map((row) => [row.name, row.package_id]))
  return kept.map(({ name }) => ownerOf.get(name))
}

function signatureHash({ body }: StatementCall): string {
  // The decoded bytes, because a signature has several encodings.
  const r = signatureBytes(body.signature).subarray(0, R_BYTES)
  return hash('sha256', r, 'hex')
}
