import {
  decodeBase64,
  encodeBase64,
  bytesEqual,
  parseStrictJson,
  unlessRefused,
} from '@agent-exchange/crypto'
import { hashFromBase64 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { openCheckpoint, type OpenedCheckpoint } from '../notes/checkpoint.ts'
import { MAXIMUM_NOTE_BYTES } from '../notes/note.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { MAXIMUM_PROOF_HASHES, readHashes } from '../notes/tlog-proof.ts'
import { formatVerifierKey, isSameKey, parseVerifierKey, type VerifierKey } from '../notes/verifier-key.ts'

export const SPLIT_VIEW_FORMAT = 'aex-split-view/1'
/** Two notes, a key and a proof fit into this with room to spare. */
export const MAXIMUM_SPLIT_VIEW_BYTES = 4 * MAXIMUM_NOTE_BYTES

/** Two checkpoints of one log that exclude each other, in a form that a third party can verify. The format is ours. */
export interface SplitView {
  readonly format: typeof SPLIT_VIEW_FORMAT
  /** The vkey whose signatures both notes carry, as the finder pinned it. */
  readonly key: string
  /** The note that the finder saw first, verbatim. */
  readonly first: string
  /** The note that the log showed later, verbatim. */
  readonly second: string
  /** For different sizes: the root that the larger tree has at the smaller size, and the proof of it. */
  readonly fork?: {
    /** In base64. */
    readonly root: string
    /** From the smaller size to the larger one, in base64. */
    readonly consistency: readonly string[]
  }
  /** When the finder noticed it: the finder's claim. */
  readonly found_at: string
}

export interface SplitViewResult {
  readonly outcome: 'contradiction' | 'unproved' | 'unreadable'
  /**
   * Of `aex verify`: 1 the log key of the policy signed two histories; 3 the file does not prove that, or no policy names
   * its key; 2 unreadable.
   */
  readonly exitCode: 1 | 2 | 3
  /** One sentence that can be quoted. */
  readonly sentence: string
  readonly origin: string | undefined
  /** The vkey that signed both notes, to compare with what the operator publishes. */
  readonly key: string | undefined
  readonly isPinned: boolean
  /** Of the notes, in the order of the file. */
  readonly heads: readonly { readonly size: number; readonly root: string }[]
}

/** Undefined where the bytes are no split view: they may be a capsule. */
export async function verifySplitViewFile(
  bytes: Uint8Array,
  options: { readonly policy?: LogPolicy } = {},
): Promise<SplitViewResult | undefined> {
  if (bytes.length > MAXIMUM_SPLIT_VIEW_BYTES) return undefined
  const value: unknown = unlessRefused(() => parseStrictJson(bytes))
  const format: unknown =
    typeof value === 'object' && value !== null ? Reflect.get(value, 'format') : undefined
  return format === SPLIT_VIEW_FORMAT ? verifySplitView(value, options) : undefined
}

/** Verifies that one log key signed two checkpoints of which neither continues the other. */
export async function verifySplitView(
  value: unknown,
  { policy }: { readonly policy?: LogPolicy } = {},
): Promise<SplitViewResult> {
  if (!isSplitView(value)) return unreadable('a member is missing or has another form')
  let key: VerifierKey
  let heads: [OpenedCheckpoint, OpenedCheckpoint]
  try {
    key = parseVerifierKey(value.key)
    heads = [await openCheckpoint(value.first, [key]), await openCheckpoint(value.second, [key])]
  } catch (error) {
    if (error instanceof LogError) return unreadable(error.message)
    throw error
  }
  const isPinned =
    policy?.isConfirmed === true &&
    policy.logs.some((log) => log.key.name === key.name && isSameKey(log.key, key))
  const found = contradictionOf(value, heads)
  return {
    outcome: found === undefined ? 'unproved' : 'contradiction',
    exitCode: found !== undefined && isPinned ? 1 : 3,
    sentence:
      found === undefined ? unprovedSentence(key, isPinned, heads) : provedSentence(key, isPinned, found),
    origin: key.name,
    key: formatVerifierKey(key),
    isPinned,
    heads: heads.map(({ size, root }) => ({ size, root: encodeBase64(root) })),
  }
}

/** Anybody can make a key with the name of a log: only a key of the policy speaks for the operator. */
function provedSentence(key: VerifierKey, isPinned: boolean, found: string): string {
  return isPinned
    ? `The operator of the log ${key.name} signed two histories that exclude each other: ${found} Both checkpoints are signed by the log key in the verifier’s policy.`
    : `The holder of the key ${formatVerifierKey(key)} signed two histories that exclude each other: ${found} No policy of the verifier names this key, so this does not show that the operator of the log ${key.name} signed them.`
}

function unprovedSentence(
  key: VerifierKey,
  isPinned: boolean,
  heads: readonly [OpenedCheckpoint, OpenedCheckpoint],
): string {
  const sizes = heads.map(({ size }) => size)
  const by = isPinned
    ? 'the log key in the verifier’s policy'
    : 'the key shown below, which no policy of the verifier names'
  return `Both checkpoints of the log ${key.name} are signed by ${by}, but this file does not prove that they exclude each other; ask the operator for a consistency proof from size ${Math.min(...sizes)} to size ${Math.max(...sizes)}.`
}

function contradictionOf(
  { fork }: SplitView,
  heads: readonly [OpenedCheckpoint, OpenedCheckpoint],
): string | undefined {
  const [smaller, larger] = heads[0].size <= heads[1].size ? heads : [heads[1], heads[0]]
  if (smaller.size === larger.size)
    return bytesEqual(smaller.root, larger.root)
      ? undefined
      : `two trees of ${smaller.size} leaves have different root hashes.`
  const root = fork && hashFromBase64(fork.root)
  const proof = fork && readHashes(fork.consistency)
  if (!root || !proof || bytesEqual(root, smaller.root)) return undefined
  try {
    // The proof fixes what the larger tree was at the smaller size; it is not what the operator signed.
    verifyConsistency({
      oldSize: smaller.size,
      oldRoot: root,
      newSize: larger.size,
      newRoot: larger.root,
      proof,
    })
  } catch (error) {
    if (error instanceof LogError) return undefined
    throw error
  }
  return `the first ${smaller.size} leaves of the tree of size ${larger.size} are not those of the tree of size ${smaller.size}.`
}

function isSplitView(value: unknown): value is SplitView {
  if (typeof value !== 'object' || value === null) return false
  const { key, first, second, fork, found_at: foundAt } = value as Record<string, unknown>
  const areTexts = [key, first, second, foundAt].every((each) => typeof each === 'string')
  return areTexts && (fork === undefined || isFork(fork))
}

function isFork(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { root, consistency } = value as Record<string, unknown>
  return (
    typeof root === 'string' &&
    decodeBase64(root) !== undefined &&
    Array.isArray(consistency) &&
    consistency.length <= MAXIMUM_PROOF_HASHES &&
    consistency.every((hash) => typeof hash === 'string')
  )
}

function unreadable(why: string): SplitViewResult {
  return {
    outcome: 'unreadable',
    exitCode: 2,
    sentence: `This file is not a split view that can be read: ${why}`,
    origin: undefined,
    key: undefined,
    isPinned: false,
    heads: [],
  }
}
