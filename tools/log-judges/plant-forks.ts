import assert from 'node:assert/strict'
import { decodeBase64url } from '@agent-exchange/crypto'
import {
  appendLeaves,
  EMPTY_EDGE,
  formatCheckpoint,
  formatWitnessRequest,
  noteSigner,
  proveConsistency,
  SIGNATURE_TYPE,
  signNote,
  tilePath,
  tileWidth,
  type NoteSigner,
  type ReadTile,
} from '@agent-exchange/log'
import { decryptPrivateKey } from '../../packages/service/src/kernel/master-key.ts'
import { isPublished, statusWhen } from './log-under-trial.ts'
import { readEntries, type WitnessedLog } from './witnessed-log.ts'

const HASH_BYTES = 32
const CHANGED_LEAF = 3
const MORE_LEAVES = 5

/** A cheating operator, with the real key, asks both witnesses to cosign another history. */
export async function plantForks(log: WitnessedLog): Promise<string> {
  const { size } = await statusWhen(log.exchange, isPublished)
  const honest = await readEntries(log.exchange, size)
  const forged = honest.map((leaf, index) =>
    index === CHANGED_LEAF ? leaf.with(0, (leaf[0] ?? 0) ^ 1) : leaf,
  )
  const signer = await stolenKey(log)
  const grown = [...forged, ...honest.slice(0, MORE_LEAVES)]
  const forks = {
    'same size': await requestOf(signer, forged, size),
    larger: await requestOf(signer, grown, size),
    'from the start': await requestOf(signer, grown, 0),
  }
  const answers: string[] = []
  for (const { name, url } of log.witnesses) {
    for (const [what, body] of Object.entries(forks)) {
      const { status, text } = await post(url, body)
      assert.ok(status === 409 || status === 422, `${name}, ${what}: ${status} ${text}`)
      assert.doesNotMatch(text, /^—/mu)
      answers.push(`${name} ${what} ${status}`)
    }
    // The same request with the real tree is cosigned: the refusals are about the fork.
    const { status, text } = await post(url, await requestOf(signer, honest, size))
    assert.equal(status, 200, `${name}: ${text}`)
    assert.match(text, /^— /u)
  }
  return answers.join(', ')
}

async function stolenKey({ exchange, origin }: WitnessedLog): Promise<NoteSigner> {
  const [row] = await exchange.sql<{ key_id: string; private_key_encrypted: Uint8Array }[]>`
    select key_id, private_key_encrypted from platform_key where purpose = 'log'`
  assert.ok(row)
  const text = decryptPrivateKey(exchange.masterKey, row.key_id, row.private_key_encrypted)
  const { d } = JSON.parse(text) as { d: string }
  return noteSigner(origin, SIGNATURE_TYPE.ed25519, decodeBase64url(d))
}

async function requestOf(
  signer: NoteSigner,
  leaves: readonly Uint8Array[],
  oldSize: number,
): Promise<string> {
  const { root, tiles } = appendLeaves(EMPTY_EDGE, leaves)
  const size = leaves.length
  const stored = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
  const readTile: ReadTile = (name) => {
    const tile = stored.get(tilePath({ ...name, width: tileWidth(name, size) }))
    assert.ok(tile)
    return tile.slice(0, name.width * HASH_BYTES)
  }
  const proof = await proveConsistency(oldSize, size, readTile)
  const checkpoint = await signNote(formatCheckpoint({ origin: signer.key.name, size, root }), [signer])
  return formatWitnessRequest({ oldSize, proof, checkpoint })
}

async function post(url: string, body: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
  return { status: answer.status, text: await answer.text() }
}
