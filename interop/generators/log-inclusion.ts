import { formatProof, formatVerifierKey, proveInclusion, type TlogProof } from '@agent-exchange/log'
import { logSigner } from '@agent-exchange/testkit'
import { LARGE, LEAVES, treeOf } from './log-tree.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

const verifier_keys = [formatVerifierKey(logSigner.key)]

async function proofOf(index: number, size: number): Promise<TlogProof> {
  const { checkpoint, readTile } = await treeOf(size)
  return { index, hashes: await proveInclusion(index, size, readTile), checkpoint }
}

const inclusionInput = (index: number, proof: string) => ({
  leaf: base64url(LEAVES[index] ?? new Uint8Array()),
  proof,
  verifier_keys,
})

export async function inclusionProofs(): Promise<Generated> {
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
        inclusionInput(index, formatProof(await proofOf(index, size))),
        { index, size },
      ),
    ),
  )
  const proof = await proofOf(2, 7)
  const { hashes } = proof
  const [first = new Uint8Array()] = hashes
  const refused = (name: string, description: string, text: string, code: string, leaf = 2) =>
    invalid(name, description, inclusionInput(leaf, text), {
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
      valid('extra', 'Extra data are ignored.', inclusionInput(2, formatProof({ ...proof, extra: first })), {
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
