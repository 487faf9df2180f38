import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBundle, encodeBundle } from './entry-bundle.ts'
import { parseTilePath, tilePath, tileWidth, type TileName } from './tile.ts'

test('paths of tiles are those of C2SP tlog-tiles', () => {
  const paths: [TileName, string][] = [
    [{ level: 0, index: 0, width: 256 }, 'tile/0/000'],
    [{ level: 0, index: 1_234_067, width: 256 }, 'tile/0/x001/x234/067'],
    [{ level: 2, index: 1_000, width: 17 }, 'tile/2/x001/000.p/17'],
    [{ level: 'entries', index: 999, width: 1 }, 'tile/entries/999.p/1'],
  ]
  for (const [name, path] of paths) {
    assert.equal(tilePath(name), path)
    assert.deepEqual(parseTilePath(path), name)
  }
})

test('every path reads back as the tile that it was written for', () => {
  const name = fc.record({
    level: fc.oneof(fc.nat(6), fc.constant('entries' as const)),
    index: fc.nat({ max: 2 ** 45 }),
    width: fc.integer({ min: 1, max: 256 }),
  })
  fc.assert(fc.property(name, (tile) => assert.deepEqual(parseTilePath(tilePath(tile)), { ...tile })))
})

test('a tile has one path: every other spelling is refused', () => {
  const wrong = [
    'tile/0/0',
    'tile/00/000',
    'tile/7/000',
    'tile/64/000',
    'tile/-1/000',
    'tile/0/x000/000',
    'tile/0/001/002',
    'tile/0/x001/x002',
    'tile/0/000.p/0',
    'tile/0/000.p/256',
    'tile/0/000.p/01',
    'tile/0/000.p/999',
    'tile/0/000/',
    '/tile/0/000',
    'tile/0/000?x',
    'tile/0/..%2f000',
    'tile/data/000',
    'tile/0/x999/x999/x999/x999/x999/999',
    `tile/0/${'x000/'.repeat(10_000)}000`,
    '',
  ]
  for (const path of wrong) assert.throws(() => parseTilePath(path), { code: 'tile_path' }, path)
})

test('a tree of 70,000 has the tiles that C2SP tlog-tiles names', () => {
  const widths = (level: number, indexes: readonly number[]) =>
    indexes.map((index) => tileWidth({ level, index }, 70_000))
  assert.deepEqual(widths(0, [0, 272, 273, 274]), [256, 256, 112, 0])
  assert.deepEqual(widths(1, [0, 1, 2]), [256, 17, 0])
  assert.deepEqual(widths(2, [0, 1]), [1, 0])
})

test('bundles hold entries of any length, and nothing else', () => {
  const entry = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
      assert.deepEqual(decodeBundle(encodeBundle(entries), entries.length), entries)
    }),
  )
  const bytes = encodeBundle([Uint8Array.of(1, 2, 3), Uint8Array.of(4)])
  assert.deepEqual([...bytes], [0, 3, 1, 2, 3, 0, 1, 4])
  for (const [wrong, width] of [
    [bytes, 1],
    [bytes, 3],
    [bytes.slice(0, -1), 2],
    [Uint8Array.of(...bytes, 0), 2],
    [Uint8Array.of(255, 255), 1],
  ] as const)
    assert.throws(() => decodeBundle(wrong, width), { code: 'bundle_malformed' })
  assert.throws(() => encodeBundle([new Uint8Array(65_536)]), { code: 'entry_length' })
})
