import type { Transaction } from '@agent-exchange/database'

/** Rows that go from one partition of a table to another. The table has the same rows afterwards. */
interface Transfer {
  readonly from: string
  readonly to: string
  /** A condition with parameters. */
  readonly where: string
  readonly values: Parameters<Transaction['unsafe']>[1]
}

export async function moveRows(tx: Transaction, { from, to, where, values }: Transfer): Promise<void> {
  await tx.unsafe(
    `with moved as (delete from ${from} where ${where} returning *) insert into ${to} select * from moved`,
    values,
  )
}

/** For a partition that is detached, and dropped later. */
export async function copyRows(tx: Transaction, { from, to, where, values }: Transfer): Promise<void> {
  await tx.unsafe(`insert into ${to} select * from ${from} where ${where}`, values)
}
