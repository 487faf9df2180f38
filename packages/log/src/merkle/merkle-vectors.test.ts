import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LogError, type LogErrorCode } from '../errors.ts'
import { verifyConsistency } from './consistency.ts'
import { verifyInclusion } from './inclusion.ts'
import { HASH_LENGTH, leafHash } from './tree-hash.ts'

// transparency-dev/merkle, testdata: proofs that are right, and the same ones altered.
const folder = `${
  process.env.AEX_VECTORS ?? fileURLToPath(new URL('../../../../../shared/vectors', import.meta.url))
}/merkle`
const absent = existsSync(folder) ? false : 'The folder of outside vectors is not here; AEX_VECTORS names it.'

interface Vector {
  readonly desc: string
  readonly wantErr: boolean
  readonly proof: readonly string[] | null
}
type Inclusion = Vector &
  Readonly<Record<'leafIdx' | 'treeSize', number> & Record<'root' | 'leafHash', string>>
type Consistency = Vector & Readonly<Record<'size1' | 'size2', number> & Record<'root1' | 'root2', string>>

function vectorsIn<T>(kind: string): [name: string, vector: T][] {
  return globSync(`${kind}/**/*.json`, { cwd: folder }).map((name) => [
    name,
    JSON.parse(readFileSync(`${folder}/${name}`, 'utf8')) as T,
  ])
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
const hashes = (texts: readonly string[] | null) => (texts ?? []).map(bytes)

function refusal(verify: () => void): LogErrorCode | undefined {
  try {
    verify()
    return undefined
  } catch (error) {
    assert.ok(error instanceof LogError, String(error))
    return error.code
  }
}

test('inclusion proofs of transparency-dev', { skip: absent }, (t) => {
  const vectors = vectorsIn<Inclusion>('inclusion')
  assert.equal(vectors.length, 98)
  const codes = new Set<LogErrorCode>()
  for (const [name, { leafIdx: index, treeSize: size, ...vector }] of vectors) {
    const [root, leaf, proof] = [bytes(vector.root), bytes(vector.leafHash), hashes(vector.proof)]
    const code = refusal(() => verifyInclusion({ index, size, root, leafHash: leaf, proof }))
    assert.equal(code !== undefined, vector.wantErr, `${name}: ${vector.desc}`)
    if (code) codes.add(code)
  }
  t.diagnostic(`98 ran, refused as ${[...codes].join(', ')}`)
  assert.ok(codes.has('inclusion_length') && codes.has('inclusion_root') && codes.has('inclusion_index'))
})

/** Some vectors have a short text in place of a root that does not matter; we want a hash there. */
const rootFrom = (text: string) => {
  const root = bytes(text)
  return root.length === HASH_LENGTH ? root : leafHash(root)
}

/**
 * transparency-dev refuses an old tree of size 0 as useless. C2SP tlog-witness starts there, with an empty proof, so we
 * accept it where the old root is the root of an empty tree. Of the three vectors this changes the verdict of one.
 */
const ABOUT_SIZE_ZERO = new Map<string, LogErrorCode | undefined>([
  ['consistency-check-on-empty-tree-size1-is-zero-is-useless', 'consistency_length'],
  ['size1-is-zero-and-does-not-equal-size2', 'consistency_empty_tree'],
  ['size1-is-zero-and-size2-is-not-zero', undefined],
])

test('consistency proofs of transparency-dev', { skip: absent }, (t) => {
  const vectors = vectorsIn<Consistency>('consistency')
  assert.equal(vectors.length, 98)
  let decided = 0
  for (const [file, { size1: oldSize, size2: newSize, ...vector }] of vectors) {
    const [oldRoot, newRoot, proof] = [rootFrom(vector.root1), rootFrom(vector.root2), hashes(vector.proof)]
    const code = refusal(() => verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof }))
    const name = basename(file, '.json')
    if (ABOUT_SIZE_ZERO.has(name)) {
      decided++
      assert.equal(code, ABOUT_SIZE_ZERO.get(name), name)
    } else {
      assert.equal(code !== undefined, vector.wantErr, `${file}: ${vector.desc}`)
    }
  }
  assert.equal(decided, 3)
  t.diagnostic('98 ran, three of them about size 0')
})
