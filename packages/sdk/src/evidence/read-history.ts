import { encodeBase64 } from '@agent-exchange/crypto'
import {
  LogError,
  openCheckpoint,
  proveConsistency,
  type EarlierCheckpoint,
  type ReadTile,
  type VerifierKey,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import type { AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import { fetchHistory } from '../log/log-answers.ts'

/** Leaves of one request. */
const INDEXES_PER_REQUEST = 100
/** A capsule of more leaves gets bounds for some of them, evenly spread. */
const MAXIMUM_INDEXES = 400

/**
 * Earlier checkpoints around these leaves, with proofs that lead to the given one. Only those that the key of the capsule
 * signed: after a rotation, earlier ones are of another key.
 */
export async function readHistory(
  context: AgentContext,
  indexes: readonly number[],
  { checkpoint, key, readTile }: { checkpoint: AcceptedCheckpoint; key: VerifierKey; readTile: ReadTile },
): Promise<EarlierCheckpoint[]> {
  const history = new Map<number, EarlierCheckpoint>()
  for (const some of chunks(spread(indexes))) {
    const answer = await fetchHistory(context, some)
    for (const each of answer?.history ?? []) {
      const size = await sizeOf(each.checkpoint, key)
      if (size === undefined || size >= checkpoint.size || history.has(size)) continue
      const leadsHere = answer?.checkpoint === checkpoint.note
      history.set(size, leadsHere ? each : await proved(each, size, checkpoint.size, readTile))
    }
  }
  return [...history].toSorted(([a], [b]) => a - b).map(([, each]) => each)
}

async function proved(
  { checkpoint }: EarlierCheckpoint,
  from: number,
  to: number,
  readTile: ReadTile,
): Promise<EarlierCheckpoint> {
  return { checkpoint, consistency: (await proveConsistency(from, to, readTile)).map(encodeBase64) }
}

async function sizeOf(note: string, key: VerifierKey): Promise<number | undefined> {
  try {
    return (await openCheckpoint(note, [key])).size
  } catch (error) {
    if (error instanceof LogError) return undefined
    throw error
  }
}

/** The first and the last are always among them. */
function spread(indexes: readonly number[]): number[] {
  const distinct = [...new Set(indexes)].toSorted((a, b) => a - b)
  if (distinct.length <= MAXIMUM_INDEXES) return distinct
  const step = (distinct.length - 1) / (MAXIMUM_INDEXES - 1)
  return Array.from({ length: MAXIMUM_INDEXES }, (_, at) => distinct[Math.round(at * step)] ?? 0)
}

function* chunks(indexes: readonly number[]): Generator<number[]> {
  for (let at = 0; at < indexes.length; at += INDEXES_PER_REQUEST)
    yield indexes.slice(at, at + INDEXES_PER_REQUEST)
}
