import type { Queries, Transaction } from '@agent-exchange/database'
import type { OperatorRole } from '../../kernel/operator-roles.ts'

/** Table operator. Tokens are kept as hashes only. */
export interface OperatorRow {
  readonly name: string
  readonly role: OperatorRole
  readonly created_at: string
  readonly disabled_at: string | null
}

export interface NewOperator {
  readonly name: string
  readonly role: OperatorRole
  readonly tokenHash: Uint8Array
  readonly now: string
}

/** False if the name is taken, also by a disabled operator: the log identifies operators by name. */
export async function insertOperator(
  tx: Transaction,
  { name, role, tokenHash, now }: NewOperator,
): Promise<boolean> {
  const rows = await tx`
    insert into operator (name, role, token_hash, created_at)
    values (${name}, ${role}, ${Buffer.from(tokenHash)}, ${now})
    on conflict (name) do nothing returning name`
  return rows.length > 0
}

export interface ActiveOperator {
  readonly name: string
  readonly role: OperatorRole
  readonly token_hash: Uint8Array
}

export async function findActiveOperator(
  db: Queries,
  tokenHash: Uint8Array,
): Promise<ActiveOperator | undefined> {
  const [row] = await db<ActiveOperator[]>`
    select name, role, token_hash from operator where token_hash = ${Buffer.from(tokenHash)} and disabled_at is null`
  return row
}

/** All active operators, locked until the transaction ends, so that the last administrator stays. */
export async function lockActiveOperators(tx: Transaction): Promise<{ name: string; role: OperatorRole }[]> {
  return tx<{ name: string; role: OperatorRole }[]>`
    select name, role from operator where disabled_at is null order by name for update`
}

export async function setOperatorRole(tx: Transaction, name: string, role: OperatorRole): Promise<void> {
  await tx`update operator set role = ${role} where name = ${name}`
}

/** One process at a time decides whether there is an operator yet. */
export async function lockOperators(tx: Transaction): Promise<{ readonly none: boolean }> {
  await tx`lock table operator in share row exclusive mode`
  const rows = await tx`select 1 from operator limit 1`
  return { none: rows.length === 0 }
}

export async function findOperator(db: Queries, name: string): Promise<OperatorRow | undefined> {
  const [row] = await db<OperatorRow[]>`
    select name, role, created_at, disabled_at from operator where name = ${name}`
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
    select name, role, created_at, disabled_at from operator
    where name > ${after ?? ''} order by name limit ${limit}`
}
