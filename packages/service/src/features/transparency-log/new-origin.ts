import { randomBytes } from 'node:crypto'
import {
  BATCH_SECRET_LENGTH,
  LogError,
  openCheckpoint,
  originLeaf,
  type OpenedCheckpoint,
  type VerifierKey,
} from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { queueLogBatch } from '../../kernel/log-pending-store.ts'
import type { RotatingKeys } from '../../platform-keys/rotating-keys.ts'
import { Problem } from '../../kernel/problem.ts'
import { latestPublished } from './checkpoint-store.ts'
import { logVerifiers } from './log-key.ts'
import { changeOrigin, readLogState } from './log-state-store.ts'
import { insertOrigin, wasUsed } from './origin-store.ts'
import { forgetWitnesses } from './witness-store.ts'

const BATCH_ID_BYTES = 16

export interface NewOrigin {
  readonly origin: string
  /** The last checkpoint of the old log that anybody has, if it is later than that of the database. */
  readonly checkpoint: string | undefined
  readonly now: string
}

/**
 * Starts a new log where the old one cannot continue: its tail is lost for ever, or its key was stolen. The tree stays,
 * a new key signs it under a new name, and a leaf commits to the last checkpoint of the old log, so that what was lost
 * shows for ever.
 */
export async function startNewOrigin(
  tx: Transaction,
  { origin, checkpoint, now }: NewOrigin,
  keys: Pick<RotatingKeys, 'list' | 'revoke'>,
) {
  const { origin: old } = await readLogState(tx)
  const note = checkpoint ?? (await latestPublished(tx))?.published
  if (note === undefined) throw invalid('/checkpoint', 'Give the last checkpoint of the old log.')
  const previous = await openOld(note, await logVerifiers(tx, old))
  // A log under a name that was used before would be a fork of it.
  if (origin === old || (await wasUsed(tx, origin)))
    throw invalid('/new_origin', 'This name was used before.')
  await insertOrigin(tx, { origin, previousOrigin: old, previousCheckpoint: note, startedAt: now })
  await changeOrigin(tx, origin)
  await forgetWitnesses(tx, [])
  for (const { key_id, status } of await keys.list(tx))
    if (status === 'active' || status === 'retiring') await keys.revoke(tx, key_id, now)
  await queueLogBatch(tx, {
    batchId: randomBytes(BATCH_ID_BYTES),
    secret: randomBytes(BATCH_SECRET_LENGTH),
    leaves: [originLeaf(origin, previous)],
  })
  return { origin, previous_origin: old, previous_size: previous.size }
}

async function openOld(note: string, keys: readonly VerifierKey[]): Promise<OpenedCheckpoint> {
  try {
    return await openCheckpoint(note, keys)
  } catch (error) {
    if (error instanceof LogError) throw invalid('/checkpoint', `It is not of this log: ${error.code}.`)
    throw error
  }
}

function invalid(pointer: string, message: string): Problem {
  return new Problem('validation_failed', { failures: [{ pointer, rule: 'O-07', message }] })
}
