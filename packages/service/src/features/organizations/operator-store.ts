import type { Queries, Transaction } from '../../db/database.ts'

/** Table operator. Tokens are kept as hashes only. */
export interface OperatorRow {
  readonly name: string
  readonly created_at: string
  readonly disabled_at: string | null
}

/** False where the name is taken, also by somebody who was disabled: the log speaks of names. */
export async function insertOperator(
  tx: Transaction,
  { name, tokenHash, now }: { name: string; tokenHash: Uint8Array; now: string },
): Promise<boolean> {
  const rows = await tx`
    insert into operator (name, token_hash, created_at) values (${name}, ${Buffer.from(tokenHash)}, ${now})
    on conflict (name) do nothing returning name`
  return rows.length > 0
}

/** An operator that may act, with the hash that was found. */
export async function findActiveOperator(
  db: Queries,
  tokenHash: Uint8Array,
): Promise<{ readonly name: string; readonly token_hash: Uint8Array } | undefined> {
  const [row] = await db<{ name: string; token_hash: Uint8Array }[]>`
    select name, token_hash from operator where token_hash = ${Buffer.from(tokenHash)} and disabled_at is null`
  return row
}

/** All who may act, held until the transaction ends: the last one cannot lock everybody out. */
export async function lockActiveOperators(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select name from operator where disabled_at is null order by name for update`
  return rows.map(({ name }) => name)
}

/** One process at a time decides whether there is an operator yet. */
export async function lockOperators(tx: Transaction): Promise<{ readonly none: boolean }> {
  await tx`lock table operator in share row exclusive mode`
  const rows = await tx`select 1 from operator limit 1`
  return { none: rows.length === 0 }
}

export async function findOperator(db: Queries, name: string): Promise<OperatorRow | undefined> {
  const [row] = await db<OperatorRow[]>`
    select name, created_at, disabled_at from operator where name = ${name}`
  return row
}

export async function disableOperator(tx: Transaction, name: string, now: string): Promise<void> {
  await tx`update operator set disabled_at = ${now} where name = ${name}`
}

export async function listOperators(
  db: Queries,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<OperatorRow[]> {
  return db<OperatorRow[]>`
    select name, created_at, disabled_at from operator where name > ${after ?? ''} order by name limit ${limit}`
}
