import type { Queries, Transaction } from '@agent-exchange/database'
import { MAXIMUM_PASSKEYS_OF_PERSON } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'

/** Owner of the table passkey. */

export interface Passkey {
  /** The credential id, as WebAuthn writes it: base64url. */
  readonly passkeyId: string
  readonly personId: string
  readonly name: string
  /** COSE. */
  readonly publicKey: Uint8Array<ArrayBuffer>
  readonly counter: number
  readonly transports: readonly string[]
  /** The sign-in after which it was registered. */
  readonly signedInAt: string
  readonly registeredAt: string
  readonly lastUsedAt: string | null
}

interface PasskeyRow {
  readonly passkey_id: string
  readonly person_id: string
  readonly name: string
  readonly public_key: Uint8Array
  readonly counter: number
  readonly transports: readonly string[]
  readonly signed_in_at: string
  readonly registered_at: string
  readonly last_used_at: string | null
}

const toPasskey = (row: PasskeyRow): Passkey => ({
  passkeyId: row.passkey_id,
  personId: row.person_id,
  name: row.name,
  publicKey: new Uint8Array(row.public_key),
  counter: row.counter,
  transports: row.transports,
  signedInAt: row.signed_in_at,
  registeredAt: row.registered_at,
  lastUsedAt: row.last_used_at,
})

export async function insertPasskey(tx: Transaction, passkey: Omit<Passkey, 'lastUsedAt'>): Promise<void> {
  const { passkeyId, personId, name, publicKey, counter, transports, signedInAt, registeredAt } = passkey
  const { length } = await listPasskeys(tx, personId)
  if (length >= MAXIMUM_PASSKEYS_OF_PERSON) throw new ApprovalProblem('passkey_limit')
  const { count } = await tx`
    insert into passkey (passkey_id, person_id, name, public_key, counter, transports, signed_in_at, registered_at)
    values (${passkeyId}, ${personId}, ${name}, ${publicKey}, ${counter}, ${[...transports]}, ${signedInAt},
      ${registeredAt})
    on conflict do nothing`
  if (count === 0) throw new ApprovalProblem('passkey_exists')
}

/** Undefined if it is unknown or removed. No other process counts with it until the transaction ends. */
export async function lockPasskey(tx: Transaction, passkeyId: string): Promise<Passkey | undefined> {
  const [row] = await tx<PasskeyRow[]>`
    select * from passkey where passkey_id = ${passkeyId} and removed_at is null for update`
  return row && toPasskey(row)
}

export async function listPasskeys(db: Queries, personId: string): Promise<Passkey[]> {
  const rows = await db<PasskeyRow[]>`
    select * from passkey where person_id = ${personId} and removed_at is null
    order by registered_at, passkey_id limit ${MAXIMUM_PASSKEYS_OF_PERSON}`
  return rows.map(toPasskey)
}

export async function recordUse(
  tx: Transaction,
  passkeyId: string,
  { counter, at }: { readonly counter: number; readonly at: string },
): Promise<void> {
  await tx`update passkey set counter = ${counter}, last_used_at = ${at} where passkey_id = ${passkeyId}`
}

/** All passkeys of a person who is removed: nothing that they approved is sent any more. */
export async function removePasskeysOf(tx: Transaction, personId: string, at: string): Promise<void> {
  await tx`update passkey set removed_at = ${at} where person_id = ${personId} and removed_at is null`
}

/** False if the person has no such passkey. */
export async function removePasskey(
  tx: Transaction,
  { personId, passkeyId }: { readonly personId: string; readonly passkeyId: string },
  at: string,
): Promise<boolean> {
  const { count } = await tx`
    update passkey set removed_at = ${at}
    where passkey_id = ${passkeyId} and person_id = ${personId} and removed_at is null`
  return count > 0
}
