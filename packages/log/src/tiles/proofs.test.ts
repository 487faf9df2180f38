import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { verifyInclusion } from '../merkle/inclusion.ts'
import {
  numberedLeaves,
  referenceConsistency,
  referenceInclusion,
  referenceRoot,
} from '../merkle/reference-tree.fixture.ts'
import { EMPTY_ROOT, leafHash } from '../merkle/tree-hash.ts'
import { edgeRoot, edgeTiles, EMPTY_EDGE, readEdge } from './append-leaves.ts'
import { decodeBundle } from './entry-bundle.ts'
import { proveConsistency, proveInclusion, rootFromTiles, tilesForInclusion } from './prove.ts'
import { StoredTiles } from './stored-tiles.fixture.ts'
import { tilePath, tileWidth, type TileName } from './tile.ts'

const LARGEST = 300
/** All small sizes, and those around powers of two and the width of a tile. */
const SIZES = [...Array.from({ length: 70 }, (_, index) => index + 1), 127, 128, 129, 255, 256, 257, LARGEST]
const leaves = numberedLeaves(70_123)
/** One leaf at a time, so that there is a tile for every size. */
const log = new StoredTiles()
const roots = [EMPTY_ROOT]
for (const leaf of leaves.slice(0, LARGEST)) {
  log.append([leaf])
  roots.push(log.root)
}

/** Beyond the sizes whose tiles are written one by one, partial tiles are cut from the widest one. */
function cut(tiles: StoredTiles, size: number) {
  return (name: TileName): Uint8Array => {
    const width = tileWidth(name, size)
    return tiles.read({ ...name, width }).slice(0, name.width * 32)
  }
}

test('roots of every size up to 300 are those of the recursive definition', () => {
  for (const [size, root] of roots.entries())
    assert.deepEqual(root, referenceRoot(leaves.slice(0, size)), `size ${size}`)
})

test('an inclusion proof of every index verifies, and for no other index up to 64', async () => {
  for (const size of SIZES) {
    const root = roots[size] as Uint8Array
    for (let index = 0; index < size; index++) {
      const proof = await proveInclusion(index, size, log.read)
      const claim = { index, size, root, leafHash: leafHash(leaves[index] as Uint8Array), proof }
      verifyInclusion(claim)
      // A mirrored position may have the same path length: the hashes must not fit it.
      const other = (index + 1) % size
      if (size > 1 && size <= 64) assert.throws(() => verifyInclusion({ ...claim, index: other }), LogError)
    }
  }
})

test('a consistency proof from every older size verifies', async () => {
  for (const newSize of SIZES)
    for (let oldSize = 0; oldSize <= newSize; oldSize++) {
      const proof = await proveConsistency(oldSize, newSize, log.read)
      const [oldRoot, newRoot] = [roots[oldSize] as Uint8Array, roots[newSize] as Uint8Array]
      verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof })
    }
})

test('proofs are those of the recursive definition', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: LARGEST }), fc.nat(), async (size, number) => {
      const part = leaves.slice(0, size)
      const [index, oldSize] = [number % size, (number % size) + 1]
      assert.deepEqual(await proveInclusion(index, size, log.read), referenceInclusion(index, part))
      assert.deepEqual(await proveConsistency(oldSize, size, log.read), referenceConsistency(oldSize, part))
    }),
  )
})

test('one flipped bit anywhere in a proof, a root or a leaf is found', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: LARGEST }), fc.nat(), fc.nat(), async (size, number, bit) => {
      const index = number % size
      const proof = await proveInclusion(index, size, log.read)
      const parts = [roots[size] as Uint8Array, leafHash(leaves[index] as Uint8Array), ...proof]
      const at = bit % parts.length
      const [root, hash, ...rest] = parts.map((part, place) => (place === at ? flipped(part, bit) : part))
      const claim = { index, size, root: root as Uint8Array, leafHash: hash as Uint8Array, proof: rest }
      assert.throws(() => verifyInclusion(claim), { code: 'inclusion_root' })
    }),
  )
})

test('a proof with a hash too many or too few is refused by its length', async () => {
  const proof = await proveInclusion(5, 13, log.read)
  const claim = {
    index: 5,
    size: 13,
    root: roots[13] as Uint8Array,
    leafHash: leafHash(leaves[5] as Uint8Array),
  }
  for (const wrong of [proof.slice(1), proof.slice(0, -1), [...proof, EMPTY_ROOT], []])
    assert.throws(() => verifyInclusion({ ...claim, proof: wrong }), { code: 'inclusion_length' })
  for (const index of [13, 14, 2 ** 40])
    assert.throws(() => verifyInclusion({ ...claim, index, proof }), { code: 'inclusion_index' })
  for (const index of [-1, 0.5, Number.NaN, 2 ** 53])
    assert.throws(() => verifyInclusion({ ...claim, index, proof }), { code: 'size_invalid' })
})

test('a log that was rewritten has no consistency proof', async () => {
  const forked = new StoredTiles()
  forked.append([...leaves.slice(0, 99), new TextEncoder().encode('another'), ...leaves.slice(100, 200)])
  const proof = await proveConsistency(150, 200, cut(forked, 200))
  const claim = { oldSize: 150, oldRoot: roots[150] as Uint8Array, newSize: 200, newRoot: forked.root, proof }
  assert.throws(() => verifyConsistency(claim), { code: 'consistency_old_root' })
  const same = {
    oldSize: 200,
    oldRoot: roots[200] as Uint8Array,
    newSize: 200,
    newRoot: forked.root,
    proof: [],
  }
  assert.throws(() => verifyConsistency(same), { code: 'consistency_new_root' })
  const back = { oldSize: 200, oldRoot: forked.root, newSize: 150, newRoot: roots[150] as Uint8Array, proof }
  assert.throws(() => verifyConsistency(back), { code: 'consistency_sizes' })
})

test('70,123 leaves appended in batches of any size give the same tiles and the same root', async () => {
  const [whole, parts] = [new StoredTiles(), new StoredTiles()]
  whole.append(leaves)
  for (let at = 0; at < leaves.length; at += 1_000 + (at % 777)) {
    const end = Math.min(leaves.length, at + 1_000 + (at % 777))
    parts.edge = await readEdge(at, at === 0 ? whole.read : parts.read)
    parts.append(leaves.slice(at, end))
  }
  assert.deepEqual(parts.root, whole.root)
  assert.deepEqual(await rootFromTiles(leaves.length, whole.read), whole.root)
  for (const [path, bytes] of whole.tiles) assert.deepEqual(parts.tiles.get(path), bytes, path)
  assert.deepEqual(edgeTiles(leaves.length).map(tilePath), [
    'tile/entries/273.p/235',
    'tile/0/273.p/235',
    'tile/1/001.p/17',
    'tile/2/000.p/1',
  ])
  for (const index of [0, 255, 256, 65_535, 65_536, 70_122]) {
    const proof = await proveInclusion(index, leaves.length, whole.read)
    assert.ok(tilesForInclusion(index, leaves.length).length <= 5)
    verifyInclusion({
      index,
      size: leaves.length,
      root: whole.root,
      leafHash: leafHash(leaves[index] as Uint8Array),
      proof,
    })
  }
  const bundle = whole.read({ level: 'entries', index: 273, width: 235 })
  assert.deepEqual(decodeBundle(bundle, 235), leaves.slice(273 * 256))
})

test('an append writes full tiles once, and partial ones of the new size', () => {
  const tiles = new StoredTiles()
  assert.deepEqual(tiles.append(leaves.slice(0, 3)).map(tilePath), ['tile/entries/000.p/3', 'tile/0/000.p/3'])
  assert.deepEqual(tiles.append(leaves.slice(3, 256)).map(tilePath), [
    'tile/entries/000',
    'tile/0/000',
    'tile/1/000.p/1',
  ])
  assert.deepEqual(tiles.append(leaves.slice(256, 257)).map(tilePath), [
    'tile/entries/001.p/1',
    'tile/0/001.p/1',
  ])
  assert.deepEqual(tiles.append([]), [])
})

test('an edge that does not belong to its size is refused', async () => {
  const edge = await readEdge(LARGEST, log.read)
  assert.deepEqual(edgeRoot(edge), roots[LARGEST])
  assert.deepEqual(edgeRoot(EMPTY_EDGE), EMPTY_ROOT)
  for (const wrong of [
    { ...edge, size: 299 },
    { ...edge, tiles: edge.tiles.slice(1) },
    { ...edge, tiles: [] },
    { ...edge, entries: new Uint8Array() },
  ])
    assert.throws(() => edgeRoot(wrong), { code: 'edge_mismatch' })
  const short = (name: TileName) => log.read(name).slice(1)
  await assert.rejects(proveInclusion(0, LARGEST, short), { code: 'tile_length' })
})

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const at = (bit >> 3) % bytes.length
  return bytes.with(at, (bytes[at] as number) ^ (1 << (bit & 7)))
}
