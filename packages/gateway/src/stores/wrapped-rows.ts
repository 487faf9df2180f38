import type { Queries, Transaction } from '@agent-exchange/database'
import type { SecretBox } from './secret-box.ts'

/** Where a step of a rewrap ended. */
export interface RewrapStep {
  readonly rewrapped: number
  /** Key of the last row; undefined after the last step. */
  readonly last?: readonly [string, string] | undefined
}

/** Secrets of one table that the master key wraps. The owner of the table implements it. */
export interface WrappedRows {
  readonly what: string
  /** Rows that none of these keys wraps, and the fingerprint of one that does. */
  left(db: Queries, marks: readonly Uint8Array[]): Promise<{ count: number; keyId: string | undefined }>
  /** Rewraps the next rows after a key, in its order. */
  rewrap(
    tx: Transaction,
    box: SecretBox,
    page: { readonly after: readonly [string, string]; readonly limit: number },
  ): Promise<RewrapStep>
}

export interface CountRow {
  readonly count: number
  readonly key_id: string | null
}

export const toLeft = ([row]: readonly CountRow[]) => ({
  count: row?.count ?? 0,
  keyId: row?.key_id ?? undefined,
})

/** Marks as the statements compare them. */
export const hexOf = (marks: readonly Uint8Array[]) => marks.map((mark) => Buffer.from(mark).toString('hex'))

export const FIRST: readonly [string, string] = ['', '']
