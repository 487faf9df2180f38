import { encodeBase64 } from '@agent-exchange/crypto'
import { parseDecimal } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { requireHashes, requireSizes } from '../merkle/tree-hash.ts'
import { MAXIMUM_NOTE_BYTES } from './note.ts'
import { MAXIMUM_PROOF_HASHES, readHashes } from './tlog-proof.ts'

/** Largest body of an add-checkpoint request: a note, and 63 hashes in base64. */
export const MAXIMUM_WITNESS_REQUEST_BYTES = MAXIMUM_NOTE_BYTES + 4_096

/** C2SP tlog-witness, the body of add-checkpoint. */
export interface WitnessRequest {
  /** The size that the witness cosigned last; 0 for the first time. */
  readonly oldSize: number
  readonly proof: readonly Uint8Array[]
  /** The signed note, verbatim. */
  readonly checkpoint: string
}

export function formatWitnessRequest({ oldSize, proof, checkpoint }: WitnessRequest): string {
  requireSizes(oldSize)
  requireHashes(...proof)
  if (proof.length > MAXIMUM_PROOF_HASHES) throw new LogError('witness_request_malformed')
  return [`old ${oldSize}`, ...proof.map(encodeBase64), '', checkpoint].join('\n')
}

export function parseWitnessRequest(body: string): WitnessRequest {
  const end = body.length <= MAXIMUM_WITNESS_REQUEST_BYTES ? body.indexOf('\n\n') : -1
  const [oldLine = '', ...lines] = body.slice(0, end).split('\n')
  const oldSize = oldLine.startsWith('old ') ? parseDecimal(oldLine.slice('old '.length)) : undefined
  const proof = readHashes(lines)
  if (end < 0 || oldSize === undefined || proof === undefined) throw new LogError('witness_request_malformed')
  return { oldSize, proof, checkpoint: body.slice(end + 2) }
}
