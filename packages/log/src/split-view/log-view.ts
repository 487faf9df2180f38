import { parseStrictJson, unlessRefused } from '@agent-exchange/crypto'
import { MAXIMUM_DEPTH } from '../evidence/evidence-bundle.ts'
import { LogError } from '../errors.ts'
import { verifyConsistency } from '../merkle/consistency.ts'
import { openCheckpoint, type OpenedCheckpoint } from '../notes/checkpoint.ts'
import { readHashes } from '../notes/tlog-proof.ts'
import { parseVerifierKey, type VerifierKey } from '../notes/verifier-key.ts'

/** Earlier checkpoints and keys in one file that are looked at. */
const MAXIMUM_ITEMS = 1_000

/** A checkpoint that a key of the log signed. */
export interface SignedHead {
  readonly note: string
  readonly opened: OpenedCheckpoint
}

/** What one party has seen of a log: its newest checkpoint, and earlier ones that the file proves to lead to it. */
export interface LogView {
  readonly newest: SignedHead
  readonly earlier: readonly SignedHead[]
}

/** The keys and notes of a file, before anything of it is verified. */
interface Claimed {
  readonly keys: readonly VerifierKey[]
  readonly checkpoint: string
  readonly history: readonly unknown[]
}

/**
 * Reads a capsule, the state of the log in an agent's folder (`log.json`), or a checkpoint. A checkpoint names no key, so it
 * is verified with the keys of `trusted`. Throws a LogError where no key signed it.
 */
export async function readLogView(bytes: Uint8Array, trusted: readonly VerifierKey[]): Promise<LogView> {
  const { keys, checkpoint, history } = claimedIn(bytes)
  const all = [...trusted, ...keys]
  const newest = { note: checkpoint, opened: await openCheckpoint(checkpoint, all) }
  const earlier: SignedHead[] = []
  for (const item of history.slice(0, MAXIMUM_ITEMS)) earlier.push(await provedHead(item, newest, all))
  return { newest, earlier }
}

/** The keys that a file names; a reader may use those of one file for the checkpoint of the other. */
export function keysIn(bytes: Uint8Array): readonly VerifierKey[] {
  return claimedIn(bytes).keys
}

function claimedIn(bytes: Uint8Array): Claimed {
  const value = jsonIn(bytes)
  if (value === undefined) return { keys: [], checkpoint: new TextDecoder().decode(bytes), history: [] }
  const log = memberOf(value, 'log') ?? value
  const checkpoint = memberOf(log, 'checkpoint')
  if (typeof checkpoint !== 'string') throw new LogError('checkpoint_malformed')
  const texts = [memberOf(log, 'key'), ...listOf(memberOf(log, 'keys'))].filter(isText)
  return {
    keys: texts.slice(0, MAXIMUM_ITEMS).map(parseVerifierKey),
    checkpoint,
    history: listOf(memberOf(log, 'history')),
  }
}

/** Undefined for text that is no JSON, such as a signed note. */
function jsonIn(bytes: Uint8Array): unknown {
  return unlessRefused(() => parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH }))
}

async function provedHead(
  item: unknown,
  { opened: newest }: SignedHead,
  keys: readonly VerifierKey[],
): Promise<SignedHead> {
  const note = memberOf(item, 'checkpoint')
  const proof = readHashes(listOf(memberOf(item, 'consistency')).filter(isText))
  if (typeof note !== 'string' || proof === undefined) throw new LogError('hash_invalid')
  const opened = await openCheckpoint(note, keys)
  verifyConsistency({
    oldSize: opened.size,
    oldRoot: opened.root,
    newSize: newest.size,
    newRoot: newest.root,
    proof,
  })
  return { note, opened }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (Reflect.get(value, name) as unknown)
    : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
