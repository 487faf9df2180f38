import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeBase64 } from '@agent-exchange/crypto'
import { formatCheckpoint } from '../notes/checkpoint.ts'
import { formatPolicy } from '../notes/format-policy.ts'
import { parsePolicy } from '../notes/policy.ts'
import { noteSigner, signNote } from '../notes/sign-note.ts'
import { formatVerifierKey, SIGNATURE_TYPE } from '../notes/verifier-key.ts'
import { proveConsistency } from '../tiles/prove.ts'
import { StoredTiles } from '../tiles/stored-tiles.fixture.ts'
import { compareViews } from './compare-views.ts'
import { keysIn, readLogView } from './log-view.ts'
import { verifySplitView } from './split-view.ts'

const signer = await noteSigner('log.example', SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(1))
const key = formatVerifierKey(signer.key)
const policy = parsePolicy(formatPolicy({ logs: [signer.key], isConfirmed: true }))
const options = { foundAt: '2026-03-01T00:00:00.000Z' }
const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))

/** A log with a signed note for every size. In a fork the second leaf is another one. */
async function logOf(size: number, second = 2) {
  const tiles = new StoredTiles()
  const notes: string[] = []
  for (let at = 1; at <= size; at++) {
    tiles.append([new Uint8Array(64).fill(at === 2 ? second : at)])
    notes.push(
      await signNote(formatCheckpoint({ origin: 'log.example', size: at, root: tiles.root }), [signer]),
    )
  }
  const note = (at: number) => notes[at - 1] ?? ''
  return { note, readTile: tiles.read }
}

const honest = await logOf(9)
const forked = await logOf(9, 99)
const view = (checkpoint: string, history: readonly object[] = []) =>
  readLogView(bytesOf({ log: { key, checkpoint, history } }), [])

/** A capsule of the fork that proves that an earlier checkpoint leads to its newest one. */
async function withHistory(log: typeof honest, from: number, to: number) {
  const consistency = (await proveConsistency(from, to, log.readTile)).map(encodeBase64)
  return view(log.note(to), [{ checkpoint: log.note(from), consistency }])
}

test('[AUD-03] equal checkpoints, and a history that the larger file proves, are one log', async () => {
  assert.deepEqual(await compareViews(await view(honest.note(5)), await view(honest.note(5)), options), {
    outcome: 'same',
  })
  for (const pair of [
    [await view(honest.note(5)), await withHistory(honest, 5, 9)],
    [await withHistory(honest, 5, 9), await view(honest.note(5))],
  ] as const)
    assert.equal((await compareViews(pair[0], pair[1], options)).outcome, 'consistent')
})

test('[AUD-03] files of two sizes are unproved by themselves, and proved by the tiles of the log', async () => {
  const [small, large] = [await view(honest.note(4)), await view(honest.note(9))]
  assert.equal((await compareViews(small, large, options)).outcome, 'unproved')
  const { readTile } = honest
  assert.equal((await compareViews(small, large, { ...options, readTile })).outcome, 'consistent')
  // Tiles of another tree than the signed one prove nothing.
  const foreign = { ...options, readTile: forked.readTile }
  assert.equal((await compareViews(await view(honest.note(1)), large, foreign)).outcome, 'unproved')
})

for (const [name, left, right, readTile] of [
  ['of one size', await view(honest.note(5)), await view(forked.note(5)), undefined],
  [
    'of two sizes, by the history in a file',
    await view(honest.note(5)),
    await withHistory(forked, 5, 9),
    undefined,
  ],
  [
    'of two sizes, by the tiles of the log',
    await view(honest.note(4)),
    await view(forked.note(9)),
    forked.readTile,
  ],
] as const)
  test(`[AUD-03] two histories ${name} are found, and the file convinces a third party`, async () => {
    const found = await compareViews(left, right, { ...options, ...(readTile && { readTile }) })
    assert.equal(found.outcome, 'fork')
    const proof: unknown = found.outcome === 'fork' && JSON.parse(JSON.stringify(found.view))
    const { outcome, exitCode } = await verifySplitView(proof, { policy })
    assert.deepEqual([outcome, exitCode], ['contradiction', 1])
  })

test('a checkpoint alone, the state of an agent and a capsule are read; anything else is refused', async () => {
  const state = { keys: [key], checkpoint: honest.note(3) }
  assert.equal((await readLogView(bytesOf(state), [])).newest.opened.size, 3)
  assert.deepEqual(keysIn(bytesOf(state)), [signer.key])
  assert.equal((await readLogView(bytesOf(honest.note(3)), [signer.key])).newest.opened.size, 3)
  const stranger = await noteSigner('log.example', SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(2))
  await assert.rejects(readLogView(bytesOf(honest.note(3)), [stranger.key]), { code: 'note_unsigned' })
  for (const value of ['', '{}', '[]', { log: {} }, { log: { checkpoint: 5 } }])
    await assert.rejects(readLogView(bytesOf(value), [signer.key]), { name: 'LogError' })
  const lie = { checkpoint: forked.note(3), consistency: [] }
  await assert.rejects(view(honest.note(9), [lie]), { name: 'LogError' })
})

test('checkpoints of two logs are not compared', async () => {
  const other = await noteSigner('other.example', SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(3))
  const root = new Uint8Array(32)
  const checkpoint = await signNote(formatCheckpoint({ origin: 'other.example', size: 3, root }), [other])
  const foreign = await readLogView(bytesOf(checkpoint), [other.key])
  assert.equal((await compareViews(await view(honest.note(3)), foreign, options)).outcome, 'other_log')
})
