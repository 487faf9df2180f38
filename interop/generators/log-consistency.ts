import { EMPTY_ROOT, proveConsistency } from '@agent-exchange/log'
import { LARGE, treeOf } from './log-tree.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

async function claim(oldSize: number, newSize: number) {
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

const refused = (name: string, description: string, input: object, code: string) =>
  invalid(name, description, input, { rule: 'RFC 9162 section 2.1.4.2', code })

export async function consistencyProofs(): Promise<Generated> {
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
