import { createHash } from 'node:crypto'
import {
  appendLeaves,
  EMPTY_EDGE,
  EMPTY_ROOT,
  formatCheckpoint,
  formatProof,
  formatVerifierKey,
  proveConsistency,
  proveInclusion,
  signNote,
  tilePath,
  tileWidth,
  type ReadTile,
  type TlogProof,
} from '@agent-exchange/log'
import { logSigner } from '@agent-exchange/testkit'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

const HASH_BYTES = 32
const LARGE = 300
const LEAVES = Array.from({ length: LARGE }, (_, index) =>
  Uint8Array.from(createHash('sha512').update(`leaf ${index}`).digest()),
)
const verifier_keys = [formatVerifierKey(logSigner.key)]

async function treeOf(size: number) {
  const { root, tiles } = appendLeaves(EMPTY_EDGE, LEAVES.slice(0, size))
  const stored = new Map(tiles.map((tile) => [tilePath(tile), tile.bytes]))
  const readTile: ReadTile = (name) =>
    (stored.get(tilePath({ ...name, width: tileWidth(name, size) })) ?? new Uint8Array()).slice(
      0,
      name.width * HASH_BYTES,
    )
  const origin = logSigner.key.name
  return { root, readTile, checkpoint: await signNote(formatCheckpoint({ origin, size, root }), [logSigner]) }
}

async function proofOf(index: number, size: number): Promise<TlogProof> {
  const { checkpoint, readTile } = await treeOf(size)
  return { index, hashes: await proveInclusion(index, size, readTile), checkpoint }
}

export async function inclusionProofs(): Promise<Generated> {
  const input = (index: number, proof: string) => ({
    leaf: base64url(LEAVES[index] ?? new Uint8Array()),
    proof,
    verifier_keys,
  })
  const places = [
    [0, 1],
    [0, 2],
    [6, 7],
    [2, 7],
    [255, LARGE],
    [256, LARGE],
    [LARGE - 1, LARGE],
  ] as const
  const accepted = await Promise.all(
    places.map(async ([index, size]) =>
      valid(
        `${index}-of-${size}`,
        `Leaf ${index} of ${size}.`,
        input(index, formatProof(await proofOf(index, size))),
        { index, size },
      ),
    ),
  )
  const proof = await proofOf(2, 7)
  const { hashes } = proof
  const [first = new Uint8Array()] = hashes
  const refused = (name: string, description: string, text: string, code: string, leaf = 2) =>
    invalid(name, description, input(leaf, text), {
      rule: code === 'proof_malformed' ? 'C2SP tlog-proof' : 'RFC 9162 section 2.1.3.2',
      code,
    })
  const other = await treeOf(6)
  const text = formatProof(proof)
  return {
    profile: 'log-inclusion',
    description: 'tlog-proofs: a leaf of 64 bytes is in the tree of a signed checkpoint.',
    references: ['RFC 9162 section 2.1.3', 'C2SP tlog-proof'],
    vectors: [
      ...accepted,
      valid('extra', 'Extra data are ignored.', input(2, formatProof({ ...proof, extra: first })), {
        index: 2,
        size: 7,
      }),
      refused('other-leaf', 'The proof of another leaf.', text, 'inclusion_root', 3),
      refused('other-index', 'The next index.', formatProof({ ...proof, index: 3 }), 'inclusion_root'),
      refused(
        'hash-changed',
        'A hash was replaced by another one.',
        formatProof({ ...proof, hashes: hashes.with(1, first) }),
        'inclusion_root',
      ),
      refused(
        'hash-missing',
        'The last hash is missing.',
        formatProof({ ...proof, hashes: hashes.slice(0, -1) }),
        'inclusion_length',
      ),
      refused(
        'hash-added',
        'One hash too many.',
        formatProof({ ...proof, hashes: [...hashes, first] }),
        'inclusion_length',
      ),
      refused(
        'index-beyond',
        'The index is the size.',
        formatProof({ ...proof, index: 7 }),
        'inclusion_index',
      ),
      refused(
        'other-checkpoint',
        'The checkpoint of another tree.',
        formatProof({ ...proof, checkpoint: other.checkpoint }),
        'inclusion_root',
      ),
      refused('other-header', 'Another version.', text.replace('@v1', '@v2'), 'proof_malformed'),
      refused(
        'leading-zero',
        'The index has a leading zero.',
        text.replace('index 2', 'index 02'),
        'proof_malformed',
      ),
      refused(
        'no-index',
        'The line of the index is missing.',
        text.replace('index 2\n', ''),
        'proof_malformed',
      ),
    ],
  }
}

export async function consistencyProofs(): Promise<Generated> {
  const claim = async (oldSize: number, newSize: number) => {
    const [old, grown] = [await treeOf(oldSize), await treeOf(newSize)]
    const proof = await proveConsistency(oldSize, newSize, grown.readTile)
    return {
      old_size: oldSize,
      old_root: base64url(oldSize === 0 ? EMPTY_ROOT : old.root),
      new_size: newSize,
      new_root: base64url(grown.root),
      proof: proof.map((hash) => base64url(hash)),
    }
  }
  const sizes = [
    [0, 7],
    [1, 7],
    [3, 7],
    [4, 7],
    [6, 7],
    [7, 7],
    [255, LARGE],
    [256, LARGE],
    [257, LARGE],
  ] as const
  const accepted = await Promise.all(
    sizes.map(async ([oldSize, newSize]) =>
      valid(
        `${oldSize}-to-${newSize}`,
        `From ${oldSize} to ${newSize} leaves.`,
        await claim(oldSize, newSize),
        {
          consistent: true,
        },
      ),
    ),
  )
  const right = await claim(3, 7)
  const [first = ''] = right.proof
  const refused = (name: string, description: string, input: object, code: string) =>
    invalid(name, description, input, { rule: 'RFC 9162 section 2.1.4.2', code })
  return {
    profile: 'log-consistency',
    description: 'Consistency proofs: a tree continues an earlier one. Every tree continues the empty one.',
    references: ['RFC 9162 section 2.1.4', 'C2SP tlog-witness'],
    vectors: [
      ...accepted,
      refused(
        'hash-changed',
        'Two hashes were exchanged.',
        { ...right, proof: [...right.proof.slice(1), first] },
        'consistency_old_root',
      ),
      refused(
        'hash-missing',
        'The last hash is missing.',
        { ...right, proof: right.proof.slice(0, -1) },
        'consistency_length',
      ),
      refused(
        'hash-added',
        'One hash too many.',
        { ...right, proof: [...right.proof, first] },
        'consistency_length',
      ),
      refused(
        'other-old-root',
        'The old log was another one.',
        { ...right, old_root: first },
        'consistency_old_root',
      ),
      refused(
        'other-new-root',
        'The new log is another one.',
        { ...right, new_root: first },
        'consistency_new_root',
      ),
      refused(
        'backwards',
        'The old tree is larger.',
        { ...right, old_size: 7, new_size: 3 },
        'consistency_sizes',
      ),
      refused(
        'two-roots',
        'Two roots of one size.',
        { ...(await claim(7, 7)), new_root: first },
        'consistency_new_root',
      ),
      refused(
        'empty-with-proof',
        'The empty tree needs no proof.',
        { ...(await claim(0, 7)), proof: [first] },
        'consistency_length',
      ),
      refused(
        'empty-with-root',
        'The empty tree has another root.',
        { ...(await claim(0, 7)), old_root: first },
        'consistency_empty_tree',
      ),
    ],
  }
}
