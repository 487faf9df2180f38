import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { verifyConsistency } from '../merkle/consistency.ts'
import { verifyInclusion } from '../merkle/inclusion.ts'
import { leafHash } from '../merkle/tree-hash.ts'
import { appendLeaves, EMPTY_EDGE } from '../tiles/append-leaves.ts'
import { decodeBundle } from '../tiles/entry-bundle.ts'
import { proveConsistency, proveInclusion } from '../tiles/prove.ts'
import { tilePath, type TileName } from '../tiles/tile.ts'
import { openCheckpoint } from './checkpoint.ts'
import { parseVerifierKey } from './verifier-key.ts'

// transparency-dev/tessera, testdata/log: a log that another implementation wrote and signed.
const folder = `${
  process.env.AEX_VECTORS ?? fileURLToPath(new URL('../../../../../shared/vectors', import.meta.url))
}/tlog`
const skip = existsSync(folder) ? false : 'The folder of outside vectors is not here; AEX_VECTORS names it.'

const SIZE = 15
const key = parseVerifierKey('example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx')
const read = (name: TileName) => new Uint8Array(readFileSync(`${folder}/${tilePath(name)}`))
const checkpointOf = (size: number) => openCheckpoint(readFileSync(`${folder}/checkpoint.${size}`), [key])

test('a log that tessera wrote: signatures, roots and tiles are what we compute', { skip }, async () => {
  const entries = decodeBundle(read({ level: 'entries', index: 0, width: SIZE }), SIZE)
  let edge = EMPTY_EDGE
  for (let size = 0; size <= SIZE; size++) {
    const { origin, size: signedSize, root } = await checkpointOf(size)
    const appended = appendLeaves(edge, entries.slice(edge.size, size))
    edge = appended.edge
    assert.deepEqual([origin, signedSize, root], [key.name, size, appended.root])
    for (const tile of appended.tiles) assert.deepEqual(tile.bytes, read(tile), tilePath(tile))
  }
})

test('a log that tessera wrote: proofs between all its checkpoints', { skip }, async () => {
  const entries = decodeBundle(read({ level: 'entries', index: 0, width: SIZE }), SIZE)
  for (let newSize = 1; newSize <= SIZE; newSize++) {
    const { root: newRoot } = await checkpointOf(newSize)
    for (let oldSize = 0; oldSize < newSize; oldSize++) {
      const { root: oldRoot } = await checkpointOf(oldSize)
      const proof = await proveConsistency(oldSize, newSize, read)
      verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof })
      const leaf = leafHash(entries[oldSize] as Uint8Array)
      const inclusion = await proveInclusion(oldSize, newSize, read)
      verifyInclusion({ index: oldSize, size: newSize, root: newRoot, leafHash: leaf, proof: inclusion })
    }
  }
})

test('its checkpoint with one character changed is refused', { skip }, async () => {
  const text = readFileSync(`${folder}/checkpoint`, 'utf8')
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] === 'A' ? 'B' : 'A'
    await assert.rejects(
      openCheckpoint(`${text.slice(0, at)}${letter}${text.slice(at + 1)}`, [key]),
      `at ${at}`,
    )
  }
})
