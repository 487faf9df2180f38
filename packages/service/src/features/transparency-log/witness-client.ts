import {
  formatWitnessRequest,
  LogError,
  MAXIMUM_NOTE_BYTES,
  openCheckpoint,
  proveConsistency,
  withSignatures,
  type PolicyWitness,
  type ReadTile,
  type VerifierKey,
} from '@agent-exchange/log'

/** C2SP tlog-witness. */
const REQUEST_LIMIT_MS = 5_000
const OK = 200
const CONFLICT = 409
const UNPROCESSABLE = 422

/** `ahead`, `fork`: the witness has seen another or a longer log under our origin; nothing may be signed any more. */
export type WitnessAnswer =
  | { readonly outcome: 'cosigned'; readonly line: string }
  | { readonly outcome: 'ahead'; readonly size: number }
  | { readonly outcome: 'fork' }
  | { readonly outcome: 'failed'; readonly error: string }

export interface WitnessSubmission {
  readonly witness: PolicyWitness
  /** The size that the witness cosigned last, as far as we know. */
  readonly knownSize: number
  readonly size: number
  readonly note: string
  readonly logKey: VerifierKey
  readonly readTile: ReadTile
}

/** Asks for a cosignature. A witness that knows another size than we thought is asked once more, from its size. */
export async function askWitness(submission: WitnessSubmission): Promise<WitnessAnswer> {
  const { size, knownSize } = submission
  const first = await post(submission, Math.min(knownSize, size))
  if (first.outcome !== 'stale') return first
  if (first.size > size) return { outcome: 'ahead', size: first.size }
  const second = await post(submission, first.size)
  return second.outcome === 'stale' ? { outcome: 'failed', error: 'size_changes' } : second
}

type Posted = WitnessAnswer | { readonly outcome: 'stale'; readonly size: number }

async function post(submission: WitnessSubmission, oldSize: number): Promise<Posted> {
  const { witness, size, note, readTile } = submission
  if (witness.url === undefined) return { outcome: 'failed', error: 'no_url' }
  const proof = await proveConsistency(oldSize, size, readTile)
  const body = formatWitnessRequest({ oldSize, proof, checkpoint: note })
  let status: number
  let text: string
  try {
    const answer = await fetch(`${witness.url.replace(/\/$/u, '')}/add-checkpoint`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    })
    status = answer.status
    text = await boundedText(answer)
  } catch (error) {
    return { outcome: 'failed', error: error instanceof Error ? error.name : 'unreachable' }
  }
  if (status === OK) return readCosignature(submission, text)
  if (status === UNPROCESSABLE) return { outcome: 'fork' }
  if (status !== CONFLICT) return { outcome: 'failed', error: `status_${status}` }
  const known = /^(0|[1-9]\d{0,15})\n?$/u.exec(text)?.[1]
  // Without a size, or with the size that we sent: the witness has another root at this size.
  if (known === undefined || Number(known) === oldSize) return { outcome: 'fork' }
  return { outcome: 'stale', size: Number(known) }
}

/** Keeps the lines of this witness only, and only if they verify. */
async function readCosignature(
  { note, witness, logKey }: WitnessSubmission,
  text: string,
): Promise<WitnessAnswer> {
  try {
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const { signatures } = await openCheckpoint(withSignatures(note, [line]), [logKey, witness.key])
      if (signatures.some(({ key }) => key === witness.key)) return { outcome: 'cosigned', line }
    }
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  return { outcome: 'failed', error: 'cosignature_invalid' }
}

async function boundedText(answer: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of answer.body ?? []) {
    length += part.length
    if (length > MAXIMUM_NOTE_BYTES) throw new RangeError('the answer of a witness is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
