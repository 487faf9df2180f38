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
/** How far the clock of a witness may be ahead. Its time is published and is evidence. */
const MAXIMUM_CLOCK_LEAD_SECONDS = 300

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
  readonly now: string
}

/**
 * Asks for a cosignature. A witness that knows another size than we thought is asked once more, from its size. A refusal
 * stops the log, so it counts as a fork only if the witness itself names the size from which it refuses the proof: an
 * error page of a proxy, or a witness that lost its memory, is no evidence of another history.
 */
export async function askWitness(submission: WitnessSubmission): Promise<WitnessAnswer> {
  const { size, knownSize } = submission
  const first = await post(submission, Math.min(knownSize, size))
  const named = first.outcome === 'refused' ? await post(submission, 0) : first
  if (named.outcome === 'refused') return { outcome: 'failed', error: 'answer_invalid' }
  if (named.outcome !== 'stale') return named
  if (named.size > size) return { outcome: 'ahead', size: named.size }
  const second = await post(submission, named.size)
  if (second.outcome === 'refused') return { outcome: 'fork' }
  return second.outcome === 'stale' ? { outcome: 'failed', error: 'size_changes' } : second
}

type Posted =
  | Exclude<WitnessAnswer, { outcome: 'ahead' | 'fork' }>
  | { readonly outcome: 'stale'; readonly size: number }
  | { readonly outcome: 'refused' }

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
  // Every tree is consistent with the empty one, so nothing can be wrong with a proof from there.
  if (status === UNPROCESSABLE && oldSize > 0) return { outcome: 'refused' }
  if (status !== CONFLICT) return { outcome: 'failed', error: `status_${status}` }
  const known = /^(0|[1-9]\d{0,15})\n?$/u.exec(text)?.[1]
  const hasOwnSize = text === '' || Number(known) === oldSize
  // The witness has another root of this size; the body of this answer is not specified.
  if (hasOwnSize && oldSize === size && size > 0) return { outcome: 'refused' }
  if (known === undefined || hasOwnSize) return { outcome: 'failed', error: 'answer_invalid' }
  return { outcome: 'stale', size: Number(known) }
}

/** Keeps the lines of this witness only, and only if they verify and their time is possible. */
async function readCosignature(
  { note, witness, logKey, now }: WitnessSubmission,
  text: string,
): Promise<Posted> {
  const latest = Math.floor(Date.parse(now) / 1_000) + MAXIMUM_CLOCK_LEAD_SECONDS
  try {
    for (const line of text.split('\n').filter((each) => each !== '')) {
      const { signatures } = await openCheckpoint(withSignatures(note, [line]), [logKey, witness.key])
      const own = signatures.find(({ key }) => key === witness.key)
      if (own && (own.time ?? 0) > latest) return { outcome: 'failed', error: 'cosignature_time' }
      if (own) return { outcome: 'cosigned', line }
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
