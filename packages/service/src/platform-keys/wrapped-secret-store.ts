import type { Queries, Transaction } from '@agent-exchange/database'

/** `platform_keys` encrypts private keys of the platform; `mac` authenticates cursors and derives ids. */
export const SECRET_NAMES = ['platform_keys', 'mac'] as const
export type SecretName = (typeof SECRET_NAMES)[number]

/** A row of wrapped_secret; this file owns the table. */
export interface WrappedSecret {
  readonly name: SecretName
  readonly wrapped: Uint8Array
  /** Fingerprint of the master key that wraps it. */
  readonly master_key_id: string
  readonly wrapped_at: string
}

export async function listWrapped(queries: Queries): Promise<WrappedSecret[]> {
  return queries<WrappedSecret[]>`select name, wrapped, master_key_id, wrapped_at from wrapped_secret`
}

/** Inserts the secret, or replaces its wrapping. */
export async function saveWrapped(tx: Transaction, row: WrappedSecret): Promise<void> {
  await tx`
    insert into wrapped_secret (name, wrapped, master_key_id, created_at, wrapped_at)
    values (${row.name}, ${Buffer.from(row.wrapped)}, ${row.master_key_id}, ${row.wrapped_at}, ${row.wrapped_at})
    on conflict (name) do update set wrapped = excluded.wrapped, master_key_id = excluded.master_key_id,
      wrapped_at = excluded.wrapped_at`
}
