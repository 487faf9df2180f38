import { bytesEqual, encodeBase64 } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { proveConsistency, rootFromTiles } from '../tiles/prove.ts'
import type { ReadTile } from '../tiles/tile.ts'
import { formatVerifierKey } from '../notes/verifier-key.ts'
import type { LogView, SignedHead } from './log-view.ts'
import { SPLIT_VIEW_FORMAT, type SplitView } from './split-view.ts'

/**
 * - `same`: both parties saw the same checkpoint.
 * - `consistent`: it is proved that the larger log continues the smaller one.
 * - `fork`: one key signed two histories; `view` proves it to anybody.
 * - `unproved`: nothing here proves either. The tiles of the log would.
 * - `other_log`: the checkpoints are of two logs.
 */
export type ViewComparison =
  | { readonly outcome: 'same' | 'consistent' | 'unproved' | 'other_log' }
  | { readonly outcome: 'fork'; readonly view: SplitView }

export interface CompareOptions {
  /** Reads tiles of the log in its larger view; without it only the proofs in the files count. */
  readonly readTile?: ReadTile
  readonly foundAt: string
}

/** Whether two parties saw one history of a log. */
export async function compareViews(
  left: LogView,
  right: LogView,
  { readTile, foundAt }: CompareOptions,
): Promise<ViewComparison> {
  if (left.newest.opened.origin !== right.newest.opened.origin) return { outcome: 'other_log' }
  const [smaller, larger] =
    left.newest.opened.size <= right.newest.opened.size ? [left, right] : [right, left]
  const forked = sameSizeFork([smaller.newest, ...smaller.earlier], [larger.newest, ...larger.earlier])
  if (forked) return { outcome: 'fork', view: splitViewOf(forked, foundAt) }
  const [old, now] = [smaller.newest.opened, larger.newest.opened]
  if (old.size === now.size) return { outcome: 'same' }
  // The larger file proves that each of its earlier checkpoints leads to its newest one.
  if (larger.earlier.some(({ opened }) => opened.size === old.size)) return { outcome: 'consistent' }
  return readTile
    ? compareByTiles(smaller.newest, larger.newest, { readTile, foundAt })
    : { outcome: 'unproved' }
}

type Pair = readonly [SignedHead, SignedHead]

/** Two trees of one size with different roots exclude each other, whatever follows. */
function sameSizeFork(first: readonly SignedHead[], second: readonly SignedHead[]): Pair | undefined {
  const bySize = new Map(first.map((head) => [head.opened.size, head]))
  for (const head of second) {
    const other = bySize.get(head.opened.size)
    if (other && !bytesEqual(other.opened.root, head.opened.root)) return [other, head]
  }
  return undefined
}

async function compareByTiles(
  smaller: SignedHead,
  larger: SignedHead,
  { readTile, foundAt }: { readonly readTile: ReadTile; readonly foundAt: string },
): Promise<ViewComparison> {
  const sizes = { oldSize: smaller.opened.size, newSize: larger.opened.size, newRoot: larger.opened.root }
  const proof = await proveConsistency(sizes.oldSize, sizes.newSize, readTile)
  if (holds({ ...sizes, oldRoot: smaller.opened.root, proof })) return { outcome: 'consistent' }
  // What the larger tree was at the smaller size. If tiles and signed root disagree, they prove nothing.
  const oldRoot = await rootFromTiles(sizes.oldSize, readTile)
  if (!holds({ ...sizes, oldRoot, proof })) return { outcome: 'unproved' }
  const fork = { root: encodeBase64(oldRoot), consistency: proof.map(encodeBase64) }
  return { outcome: 'fork', view: { ...splitViewOf([smaller, larger], foundAt), fork } }
}

function holds(sizes: Parameters<typeof verifyConsistency>[0]): boolean {
  try {
    verifyConsistency(sizes)
    return true
  } catch (error) {
    if (error instanceof LogError) return false
    throw error
  }
}

/** A third party needs the key that signed both notes. */
function splitViewOf([first, second]: Pair, foundAt: string): SplitView {
  const keys = signersOf(first)
  const others = signersOf(second)
  return {
    format: SPLIT_VIEW_FORMAT,
    key: keys.find((key) => others.includes(key)) ?? keys[0] ?? '',
    first: first.note,
    second: second.note,
    found_at: foundAt,
  }
}

function signersOf({ opened: { signatures } }: SignedHead): string[] {
  return signatures.map(({ key }) => formatVerifierKey(key))
}
