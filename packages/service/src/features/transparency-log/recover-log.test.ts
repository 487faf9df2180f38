import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  appendLeaves,
  decodeBundle,
  EMPTY_EDGE,
  formatCheckpoint,
  readEdge,
  SIGNATURE_TYPE,
  signNote,
  tilePath,
  verifierKey,
} from '@agent-exchange/log'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { type Database, inTransaction, openDatabase } from '@agent-exchange/database'
import { systemClock } from '@agent-exchange/server/clock'
import { randomId } from '../../kernel/ids.ts'
import { platformIdentity } from '../agents/platform-identity.ts'
import { openPlatformKeys } from '../../platform-keys/platform-keys.ts'
import { listUsableKeys } from '../../platform-keys/key-store.ts'
import type { LogKey } from '../../platform-keys/log-keys.ts'
import { appendPending } from './append-to-tree.ts'
import type { LogMirror } from './log-mirror.ts'
import { readLogState } from './log-state-store.ts'
import { startNewOrigin } from './new-origin.ts'
import { recoverLog } from './recover-log.ts'
import { tileReader } from './tile-store.ts'

const masterKey = randomBytes(32)
const sign = async (origin: string, key: LogKey, tree: { size: number; root: Uint8Array }) =>
  signNote(formatCheckpoint({ origin, ...tree }), [
    { key: verifierKey(origin, SIGNATURE_TYPE.ed25519, key.publicKey), sign: key.sign },
  ])

async function appendAll(db: Database): Promise<void> {
  const { size } = await readLogState(db)
  await appendPending(db, await readEdge(size, tileReader(db)))
}

/** A copy of the log with one more leaf, whose checkpoint anybody with a key can sign. */
async function longerMirror(
  db: Database,
  signed: (tree: { size: number; root: Uint8Array }) => Promise<string>,
) {
  const { size } = await readLogState(db)
  const bundle = await tileReader(db)({ level: 'entries', index: 0, width: size })
  const { edge, root, tiles } = appendLeaves(EMPTY_EDGE, [...decodeBundle(bundle, size), randomBytes(64)])
  const note = await signed({ size: edge.size, root })
  const files = new Map(tiles.map(({ bytes, ...name }) => [tilePath(name), bytes]))
  const mirror: LogMirror = {
    checkpoint: async () => Buffer.from(note),
    readTile: async (name) => files.get(tilePath(name)) ?? assert.fail(tilePath(name)),
  }
  return { mirror, size: edge.size }
}

test('[AUD-03] a mirror that a revoked log key signed under the present name is refused', async () => {
  await using world = await startWorld({ config: { masterKey } })
  await using cleanup = new AsyncDisposableStack()
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'recover' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  const platform = await openPlatformKeys({
    db,
    masterKeys: () => ({ current: masterKey }),
    profile: DEFAULT_PROFILE,
    clock: systemClock,
    newId: randomId,
    identity: platformIdentity,
  })
  const keyOfLog = async () => {
    const [row] = await listUsableKeys(db, 'log', new Date().toISOString())
    assert.ok(row)
    return platform.openLogKey(row)
  }
  const stolen = await keyOfLog()
  await appendAll(db)
  const old = await readLogState(db)
  const now = new Date(Date.now() + 1_000).toISOString()
  const origin = 'after-the-theft.example/log'
  const checkpoint = await sign(old.origin, stolen, old)
  await inTransaction(db, (tx) => startNewOrigin(tx, { origin, checkpoint, now }, platform.log))
  await appendAll(db)

  const before = await readLogState(db)
  const refusal = { reason: 'behind_checkpoint_file', own_size: before.size, known_size: before.size + 1 }
  await db`update log_state set refusal = ${JSON.stringify(refusal)}`
  const recover = (mirror: LogMirror) => inTransaction(db, (tx) => recoverLog(tx, mirror, now))
  const forged = await longerMirror(db, (tree) => sign(origin, stolen, tree))
  await assert.rejects(recover(forged.mirror), (error) => /is not ours/u.test(JSON.stringify(error)))
  assert.equal((await readLogState(db)).size, before.size)

  const current = await keyOfLog()
  assert.notDeepEqual(current.publicKey, stolen.publicKey)
  const own = await longerMirror(db, (tree) => sign(origin, current, tree))
  assert.equal((await recover(own.mirror)).size, own.size)

  // Nor does it count as the last checkpoint of this log when yet another one begins.
  const next = { origin: 'third.example/log', checkpoint: await sign(origin, stolen, before), now }
  await assert.rejects(
    inTransaction(db, (tx) => startNewOrigin(tx, next, platform.log)),
    (error) => /is not of this log/u.test(JSON.stringify(error)),
  )
})
