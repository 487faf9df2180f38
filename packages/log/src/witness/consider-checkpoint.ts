import { bytesEqual } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { EMPTY_ROOT } from '../merkle/tree-hash.ts'
import { openCheckpoint, parseCheckpoint, type Checkpoint } from '../notes/checkpoint.ts'
import { parseNote } from '../notes/note.ts'
import type { VerifierKey } from '../notes/verifier-key.ts'
import { parseWitnessRequest, type WitnessRequest } from '../notes/witness-request.ts'

/** Refusals of C2SP tlog-witness, by HTTP status. */
export type WitnessRefusal =
  | { readonly status: 400 | 403 | 404 | 422; readonly reason: string }
  /** A size is sent where the log has to start from another one, and none for two roots of one size. */
  | { readonly status: 409; readonly reason: string; readonly size?: number }

export interface WitnessedRequest extends WitnessRequest {
  readonly head: Checkpoint
}

/** First step: whose checkpoint it is, and whether that log signed it. Needs no state. */
export async function openWitnessRequest(
  body: string,
  logs: readonly VerifierKey[],
): Promise<WitnessedRequest | WitnessRefusal> {
  let request: WitnessRequest
  let head: Checkpoint
  try {
    request = parseWitnessRequest(body)
    head = parseCheckpoint(parseNote(request.checkpoint).text)
  } catch (error) {
    return refusalOf(400, error)
  }
  const keys = logs.filter(({ name }) => name === head.origin)
  if (keys.length === 0) return { status: 404, reason: 'The witness does not know this origin.' }
  try {
    await openCheckpoint(request.checkpoint, keys)
  } catch (error) {
    return refusalOf(403, error)
  }
  return { ...request, head }
}

/**
 * Second step: whether the checkpoint continues the last one that was cosigned. Undefined where it does. It does no
 * I/O and awaits nothing, so that a caller can run it inside a transaction.
 */
export function refuseCheckpoint(
  { head, oldSize, proof }: WitnessedRequest,
  last: Pick<Checkpoint, 'size' | 'root'> | undefined,
): WitnessRefusal | undefined {
  const { size, root } = last ?? { size: 0, root: EMPTY_ROOT }
  if (oldSize > head.size)
    return { status: 400, reason: 'The old size is larger than that of the checkpoint.' }
  if (oldSize !== size) return { status: 409, reason: 'The witness cosigned another size last.', size }
  if (last && head.size === size && !bytesEqual(head.root, root))
    return { status: 409, reason: 'The witness cosigned another root of the same size.' }
  try {
    verifyConsistency({ oldSize, oldRoot: root, newSize: head.size, newRoot: head.root, proof })
    return undefined
  } catch (error) {
    return refusalOf(422, error)
  }
}

function refusalOf(status: 400 | 403 | 422, error: unknown): WitnessRefusal {
  if (error instanceof LogError) return { status, reason: error.message }
  throw error
}
