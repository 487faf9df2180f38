import { hash } from 'node:crypto'
import { signatureBytes, verifyPackageStatement, type StatementForm } from '@agent-exchange/crypto'
import type { Database, Transaction } from '../../db/database.ts'
import type { Call } from '../../kernel/call.ts'
import { requireAgent } from '../../kernel/roles.ts'
import { publicKeyOf, verified, type KeyName } from '../keys/public-keys.ts'

/** The first half of r||s on P-256. */
const R_BYTES = 32

type StatementCall = Call<'createPackageReceipt'> | Call<'revokePackage'>

/** Checks the signature of a receipt or revocation by an agent of the caller's; returns what it covers (O-22). */
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

/** Who is said to have signed a statement. */
export function statementKey({ body }: StatementCall, agentId: string): KeyName {
  return { agentId, keyId: body.signature.key_id }
}

/**
 * The same signature under a second package is refused: a plain one names no package by itself. Anyone can turn
 * an ECDSA signature (r, s) into (r, n - s), which holds too, so that r alone stands for it. Keeps those that are
 * new, and returns the package that each signature belongs to.
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
  // The bytes, since one signature has several spellings.
  const r = signatureBytes(body.signature).subarray(0, R_BYTES)
  return hash('sha256', r, 'hex')
}
