import { bytesEqual } from '@agent-exchange/crypto'
import {
  appendLeaves,
  decodeBundle,
  edgeRoot,
  EMPTY_EDGE,
  LABEL_LENGTH,
  LEAF_LENGTH,
  LogError,
  parseCheckpoint,
  parseNote,
  readEdge,
  TILE_WIDTH,
  tileWidth,
  type TreeEdge,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { checkLog, type AcceptedCheckpoint } from './accept-checkpoint.ts'
import { fetchTile, tileReader } from './log-answers.ts'
import { toHex, watchLabels, type WatchedLabels } from './watched-labels.ts'

/** What a monitor keeps between two runs. */
export interface MonitorState {
  /** Threads whose packages are watched. */
  readonly threads: readonly string[]
  /** The checkpoint up to which the log was scanned for them. */
  readonly scanned?: string
  /** Own labels that were found, in hexadecimal, with the index of each. */
  readonly found: readonly (readonly [label: string, index: number])[]
}

export interface MonitorFinding {
  readonly kind: 'duplicate' | 'hidden' | 'missing' | 'unknown_key'
  /** A whole sentence that says what the operator did. */
  readonly sentence: string
  readonly index?: number
}

export interface MonitorResult {
  readonly findings: readonly MonitorFinding[]
  readonly state: MonitorState
  /** Leaves that were scanned in this run. */
  readonly scanned: number
  readonly size: number
}

/**
 * Scans what was added to the log for labels of this agent: two leaves with one label are two histories, and a label of
 * an event that the exchange does not show is a hidden event. Undefined until the exchange has published a log.
 *
 * @example
 * const result = await monitorLog(context, { threads: ['thread_1'], found: [] })
 */
export async function monitorLog(
  context: AgentContext,
  before: MonitorState,
  { onProgress }: { readonly onProgress?: (index: number, size: number) => void } = {},
): Promise<MonitorResult | undefined> {
  // The checkpoint first: whatever it covers was recorded before, so evidence that is read later must show it.
  const checkpoint = await checkLog(context)
  if (!checkpoint) return undefined
  const { labels, unknownKeys } = await watchLabels(context, before.threads)
  const scan = new LabelScan(labels, before.found)
  let edge = await startOf(context, before, checkpoint)
  const start = edge.size
  while (edge.size < checkpoint.size) {
    const first = edge.size
    const leaves = await readLeaves(context, first, checkpoint.size)
    leaves.forEach((leaf, at) => scan.visit(leaf, first + at))
    edge = appendLeaves(edge, leaves).edge
    onProgress?.(edge.size, checkpoint.size)
  }
  if (!bytesEqual(edgeRoot(edge), checkpoint.root))
    throw new ExchangeError('log_unverifiable', {
      what: 'The entries that the exchange shows are not those of the tree that it signed.',
    })
  scan.requireShown(start, checkpoint.size)
  const keys = unknownKeys.map(({ number, key_id: keyId }): MonitorFinding => ({
    kind: 'unknown_key',
    sentence: `The exchange shows key ${keyId} (key event ${number}) as one of ${context.identity.agentId}, and the key store of this agent never made it.`,
  }))
  return {
    findings: [...scan.findings, ...keys],
    state: { threads: before.threads, scanned: checkpoint.note, found: scan.found },
    scanned: checkpoint.size - start,
    size: checkpoint.size,
  }
}

/** The tree as it was scanned last; tiles of the exchange that lead to another root are refused. */
async function startOf(
  context: AgentContext,
  { scanned }: MonitorState,
  { size, keys }: AcceptedCheckpoint,
): Promise<TreeEdge> {
  if (scanned === undefined || keys.length === 0) return EMPTY_EDGE
  try {
    const last = parseCheckpoint(parseNote(scanned).text)
    const readHashes = tileReader(context, size)
    const edge = await readEdge(last.size, async (name) =>
      name.level === 'entries' ? bundleStart(context, name.index, name.width, size) : readHashes(name),
    )
    if (bytesEqual(edgeRoot(edge), last.root)) return edge
  } catch (error) {
    if (!(error instanceof LogError)) throw error
  }
  throw new ExchangeError('log_unverifiable', {
    what: 'The tiles of the exchange do not hold the tree that this monitor scanned before.',
  })
}

/** The bytes of the first entries of a bundle, which has grown since. */
async function bundleStart(
  context: AgentContext,
  index: number,
  count: number,
  size: number,
): Promise<Uint8Array> {
  const width = tileWidth({ level: 'entries', index }, size)
  const bytes = await fetchTile(context, { level: 'entries', index, width })
  const entries = leavesOf(bytes, width)
  const length = entries.slice(0, count).reduce((sum, entry) => sum + 2 + entry.length, 0)
  return bytes.subarray(0, length)
}

/** Leaves from an index to the end of its bundle, within the tree. */
async function readLeaves(context: AgentContext, first: number, size: number): Promise<Uint8Array[]> {
  const index = Math.floor(first / TILE_WIDTH)
  const width = tileWidth({ level: 'entries', index }, size)
  const bytes = await fetchTile(context, { level: 'entries', index, width })
  return leavesOf(bytes, width).slice(first % TILE_WIDTH, width)
}

/** The bundle may be full by now, and hold more than was asked for. */
function leavesOf(bytes: Uint8Array, width: number): Uint8Array[] {
  try {
    return decodeBundle(bytes, width)
  } catch {
    return decodeBundle(bytes, TILE_WIDTH)
  }
}

class LabelScan {
  readonly findings: MonitorFinding[] = []
  readonly #labels: WatchedLabels
  readonly #found: Map<string, number>

  constructor(labels: WatchedLabels, found: MonitorState['found']) {
    this.#labels = labels
    this.#found = new Map(found)
  }

  get found(): [string, number][] {
    return [...this.#found]
  }

  visit(leaf: Uint8Array, index: number): void {
    // An entry of another length is of a later version of the format.
    if (leaf.length !== LEAF_LENGTH) return
    const label = toHex(leaf.subarray(0, LABEL_LENGTH))
    const watched = this.#labels.get(label)
    if (!watched) return
    const earlier = this.#found.get(label)
    if (earlier !== undefined && earlier !== index)
      this.findings.push({
        kind: 'duplicate',
        sentence: `The log holds ${watched.what} twice, at leaf ${earlier} and at leaf ${index}: the operator keeps two histories.`,
        index,
      })
    else if (!watched.isShown)
      this.findings.push({
        kind: 'hidden',
        sentence: `The log holds ${watched.what} at leaf ${index}, and the exchange does not show this event: it hides it.`,
        index,
      })
    if (earlier === undefined) this.#found.set(label, index)
  }

  /** Whatever the exchange places within the scanned part was found there. */
  requireShown(start: number, end: number): void {
    for (const [label, { what, index }] of this.#labels)
      if (index !== undefined && index >= start && index < end && this.#found.get(label) !== index)
        this.findings.push({
          kind: 'missing',
          sentence: `The exchange says that ${what} is leaf ${index}, and that leaf is another one.`,
          index,
        })
  }
}
