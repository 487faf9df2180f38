import assert from 'node:assert/strict'
import { decodeBase64url } from '@agent-exchange/crypto'
import {
  appendLeaves,
  EMPTY_EDGE,
  formatCheckpoint,
  formatWitnessRequest,
  noteSigner,
  parseVerifierKey,
  proveConsistency,
  SIGNATURE_TYPE,
  signNote,
  tilePath,
  tileWidth,
  type NoteSigner,
  type ReadTile,
} from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'
import { systemClock } from '@agent-exchange/server/clock'
import { decryptPrivateKey } from '@agent-exchange/server/master-key'
import { readSecrets } from '../../packages/service/src/platform-keys/platform-secrets.ts'
import { askWitness } from '../../packages/service/src/features/transparency-log/witness-client.ts'
import { isPublished, statusWhen } from './log-under-trial.ts'
import { readEntries, type WitnessedLog } from './witnessed-log.ts'

const HASH_BYTES = 32
const CHANGED_LEAF = 3
const MORE_LEAVES = 5

/** A tree with its signed checkpoint. */
interface SignedTree {
  readonly size: number
  readonly note: string
  readonly readTile: ReadTile
}

/** A cheating operator, with the real key, asks both witnesses to cosign another history. */
export async function plantForks(log: WitnessedLog): Promise<string> {
  const { size } = await statusWhen(log.exchange, isPublished)
  const honest = await readEntries(log.exchange, size)
  const forged = honest.map((leaf, index) =>
    index === CHANGED_LEAF ? leaf.with(0, (leaf[0] ?? 0) ^ 1) : leaf,
  )
  const signer = await stolenKey(log)
  const sameSize = await signedTree(signer, forged)
  const larger = await signedTree(signer, [...forged, ...honest.slice(0, MORE_LEAVES)])
  const forks = [
    ['same size', sameSize, size],
    ['larger', larger, size],
    ['larger, from the start', larger, 0],
  ] as const
  const answers: string[] = []
  for (const { name, url, verifierKey } of log.witnesses) {
    const witness = { kind: 'witness', name, url, key: parseVerifierKey(verifierKey) } as const
    for (const [what, tree, knownSize] of forks) {
      const { status, text } = await post(url, tree, knownSize)
      assert.ok(status === 409 || status === 422, `${name}, ${what}: ${status} ${text}`)
      assert.doesNotMatch(text, /^—/mu)
      // The client of the exchange understands each of these answers.
      const { outcome } = await askWitness({
        ...tree,
        witness,
        knownSize,
        logKey: signer.key,
        now: systemClock.now(),
      })
      assert.equal(outcome, 'fork', `${name}, ${what}`)
      answers.push(`${name} ${what} ${status}`)
    }
    // A database from before the first checkpoint shows the empty tree, and learns the size of the witness.
    const empty = await askWitness({
      ...(await signedTree(signer, [])),
      witness,
      knownSize: 0,
      logKey: signer.key,
      now: systemClock.now(),
    })
    assert.deepEqual(empty, { outcome: 'ahead', size })
    // The same request with the real tree is cosigned: the refusals are about the fork.
    const { status, text } = await post(url, await signedTree(signer, honest), size)
    assert.equal(status, 200, `${name}: ${text}`)
    assert.match(text, /^— /u)
  }
  return answers.join(', ')
}

async function stolenKey({ exchange, origin }: WitnessedLog): Promise<NoteSigner> {
  const [row] = await exchange.sql<{ key_id: string; private_key_encrypted: Uint8Array }[]>`
    select key_id, private_key_encrypted from platform_key where purpose = 'log'`
  assert.ok(row)
  const queries = exchange.sql as unknown as Queries
  const { platform_keys: dataKey } = await readSecrets(queries, { current: exchange.masterKey })
  const text = decryptPrivateKey(dataKey, row.key_id, row.private_key_encrypted)
  assert.ok(text !== undefined)
  const { d } = JSON.parse(text) as { d: string }
  return noteSigner(origin, SIGNATURE_TYPE.ed25519, decodeBase64url(d))
}

async function signedTree(signer: NoteSigner, leaves: readonly Uint8Array[]): Promise<SignedTree> {
  const { root, tiles } = appendLeaves(EMPTY_EDGE, leaves)
  const size = leaves.length
  const stored = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
  const note = await signNote(formatCheckpoint({ origin: signer.key.name, size, root }), [signer])
  const readTile: ReadTile = (name) => {
    const tile = stored.get(tilePath({ ...name, width: tileWidth(name, size) }))
    assert.ok(tile)
    return tile.slice(0, name.width * HASH_BYTES)
  }
  return { size, note, readTile }
}

async function post(url: string, { size, note, readTile }: SignedTree, oldSize: number) {
  const proof = await proveConsistency(oldSize, size, readTile)
  const body = formatWitnessRequest({ oldSize, proof, checkpoint: note })
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
  return { status: answer.status, text: await answer.text() }
}
