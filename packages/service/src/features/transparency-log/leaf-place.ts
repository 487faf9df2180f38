import { encodeBase64url } from '@agent-exchange/crypto'
import { deriveSalt, type ReadTile } from '@agent-exchange/log'
import type { PublishedCheckpoint } from './checkpoint-store.ts'
import { proveLeaf } from './prove-leaf.ts'

/** Where a leaf is: in no batch yet (before the backfill), in a batch that waits, or in the tree. */
export interface LeafPlace {
  readonly secret: Uint8Array | null
  readonly first_index: number | null
  readonly log_offset: number | null
}

export type LeafProof =
  | { readonly salt: string; readonly index: number; readonly proof: string }
  | { readonly pending: true }

/** Pending until a published checkpoint covers the leaf. The salt opens this leaf alone. */
export async function leafProof(
  { secret, first_index, log_offset }: LeafPlace,
  checkpoint: PublishedCheckpoint | undefined,
  readTile: ReadTile,
): Promise<LeafProof> {
  if (!checkpoint || secret === null || first_index === null || log_offset === null) return { pending: true }
  const index = first_index + log_offset
  if (index >= checkpoint.size) return { pending: true }
  const salt = encodeBase64url(deriveSalt(secret, log_offset))
  return { salt, index, proof: await proveLeaf(index, checkpoint, readTile) }
}
