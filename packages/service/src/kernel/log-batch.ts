import { randomBytes } from 'node:crypto'
import { BATCH_SECRET_LENGTH, deriveSalt } from '@agent-exchange/log'

const BATCH_ID_BYTES = 16

/** Leaves of one transaction. Each record stores the id of the batch and the offset of its leaf. */
export interface LogBatch {
  readonly batchId: Uint8Array
  readonly secret: Uint8Array
  readonly leaves: readonly Uint8Array[]
}

/** Makes a leaf of each item with a salt of its own. The id is random, so that no round trip is needed to get one. */
export function toLogBatch<Item>(
  items: readonly Item[],
  leafOf: (item: Item, salt: Uint8Array) => Uint8Array,
): LogBatch {
  const secret = randomBytes(BATCH_SECRET_LENGTH)
  const leaves = items.map((item, offset) => leafOf(item, deriveSalt(secret, offset)))
  return { batchId: randomBytes(BATCH_ID_BYTES), secret, leaves }
}
