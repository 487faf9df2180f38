import { LogError, type LogErrorCode } from '../errors.ts'
import { verifyInclusion } from '../merkle/inclusion.ts'
import { leafHash } from '../merkle/tree-hash.ts'
import type { Checkpoint } from '../notes/checkpoint.ts'
import { parseProof } from '../notes/tlog-proof.ts'

/** A verified checkpoint and the note that it was read from. */
export interface VerifiedTree extends Pick<Checkpoint, 'size' | 'root'> {
  readonly note: string
}

export type Placed =
  | { readonly index: number; readonly fault?: undefined }
  | { readonly index?: undefined; readonly fault: LogErrorCode | 'checkpoint_differs' }

/** The index at which a tlog-proof places a leaf in the tree, or why it does not. */
export function placeLeaf(leaf: Uint8Array, text: string, { note, size, root }: VerifiedTree): Placed {
  try {
    const proof = parseProof(text)
    if (proof.checkpoint !== note || proof.extra !== undefined) return { fault: 'checkpoint_differs' }
    verifyInclusion({ index: proof.index, size, root, leafHash: leafHash(leaf), proof: proof.hashes })
    return { index: proof.index }
  } catch (error) {
    if (error instanceof LogError) return { fault: error.code }
    throw error
  }
}
