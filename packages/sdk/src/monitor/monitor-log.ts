import { bytesEqual } from '@agent-exchange/crypto'
import {
  appendLeaves,
  decodeBundle,
  edgeRoot,
  EMPTY_EDGE,
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
import { checkLog, type AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import { alteredLeaves } from './altered-leaves.ts'
import { isSearched, LabelScan, rangesOf, type MonitorFinding, type Searched } from './label-scan.ts'
import { fetchKeyEvents, fetchTile, tileReader } from '../log/log-answers.ts'
import type { MonitorState } from './monitor-state.ts'
import { keyFindings } from './own-key-events.ts'
import { threadsOfStream } from './own-threads.ts'
import { watchLabels } from './watched-labels.ts'

/** New labels are searched in the whole log at once if it has no more leaves, otherwise at most once in this time. */
const LOOK_BACK_LEAVES = 16_384
const LOOK_BACK_MS = 3_600_000
/** An event is overdue after this multiple of the delay that the profile promises. */
const OVERDUE_DELAYS = 60

export interface MonitorOptions {
  /** Further threads to watch, from now on. */
  readonly threads?: readonly string[]
  /** Numbers of key events that the owner caused by other means, such as a revocation by hand. */
  readonly ownEvents?: readonly number[]
  /** Called for each finding as soon as there is one: those about keys come before the scan. */
  readonly onFinding?: (finding: MonitorFinding) => void
  readonly onProgress?: (index: number, size: number) => void
  /**
   * Awaited between steps of milliseconds, of which a run has several for each package: a server rests here, and ends a run
   * by an exception.
   */
  readonly onStep?: () => Promise<void>
}

export interface MonitorResult {
  readonly findings: readonly MonitorFinding[]
  readonly state: MonitorState
  /** Leaves that were scanned in this run. */
  readonly scanned: number
  readonly size: number
  /** Labels were new, so leaves that an earlier run scanned were searched for them, or will be in a later run. */
  readonly lookBack: 'none' | 'done' | 'postponed'
  /** Threads that are known and that the exchange does not show. */
  readonly unreadable: readonly string[]
  /** Threads for which there is no room. */
  readonly unwatched: readonly string[]
}

/**
 * Scans what was added to the log for labels of this agent: two leaves with one label are two histories, and a label of
 * an event that the exchange does not show is a hidden event. Recomputes the leaves of all records that the exchange shows,
 * so that one that was rewritten later is found too. Watches the key events of the agent, the given threads and
 * all threads of the event stream. A label that an earlier run did not know is searched in the whole log. Undefined until
 * the exchange has published a log.
 *
 * @example
 * const result = await monitorLog(context, { threads: ['thread_1'], found: [] })
 */
export async function monitorLog(
  context: AgentContext,
  before: MonitorState,
  { threads: given = [], ownEvents: caused = [], onFinding, onProgress, onStep }: MonitorOptions = {},
): Promise<MonitorResult | undefined> {
  await context.deployment.refresh()
  // The checkpoint first: whatever it covers was recorded before, so evidence that is read later must show it.
  const checkpoint = await checkLog(context)
  if (!checkpoint) return undefined
  const { size } = checkpoint
  const now = context.now()
  const ownEvents = [...new Set([...(before.ownEvents ?? []), ...caused])]
  // At once: somebody may be using a false key while a long scan runs.
  const keyEvents = await fetchKeyEvents(context, context.identity.agentId)
  const aboutKeys = await keyFindings(context, keyEvents, ownEvents)
  aboutKeys.forEach((finding) => onFinding?.(finding))
  const stream = await threadsOfStream(context, before, onStep)
  // Those with the newest events first.
  const threads = [...new Set([...stream.threads.toReversed(), ...given, ...before.threads])]
  const watch = await watchLabels(context, { threads, keyEvents, onStep })
  const ranges = rangesOf(watch.labels)
  const searched = new Map(before.searched)
  const isNew = [...ranges].some(([subject, number]) => !isSearched({ subject, number }, searched))
  const isFromStart = before.scanned === undefined || (isNew && mayLookBack(before, size, now))
  const scan = new LabelScan(watch.labels, before.found)
  const from = isFromStart ? EMPTY_EDGE : await startOf(context, before, checkpoint)
  const start = from.size
  const bundles = visitLeaves(context, from, checkpoint, (leaf, index) => scan.visit(leaf, index))
  for await (const end of bundles) {
    onProgress?.(end, size)
    await onStep?.()
  }
  scan.compare({ start, size, searched })
  const overdueMs =
    OVERDUE_DELAYS * context.deployment.profile['O-07'].transparency_maximum_delay_seconds * 1_000
  const waiting = scan.waiting({ before, now, overdueMs })
  const kept = new Set([...before.threads, ...watch.threads])
  const vanished = before.threads.filter((threadId) => watch.unreadable.includes(threadId))
  const lookedBackAt = isFromStart ? now.toISOString() : before.lookedBackAt
  const altered = await alteredLeaves(context, {
    labels: watch.labels,
    found: scan.found,
    checkpoint,
    onStep,
  })
  const aboutEvents = [...watch.findings, ...scan.findings, ...altered, ...vanished.map(notShownAnyMore)]
  aboutEvents.forEach((finding) => onFinding?.(finding))
  return {
    findings: [...aboutKeys, ...aboutEvents],
    state: {
      threads: threads.filter((threadId) => kept.has(threadId)),
      scanned: checkpoint.note,
      found: [...scan.found],
      searched: isFromStart ? [...ranges] : stillSearched(searched, ranges),
      waiting,
      ...(lookedBackAt !== undefined && { lookedBackAt }),
      ...(stream.cursor !== undefined && { cursor: stream.cursor }),
      ...(ownEvents.length > 0 && { ownEvents }),
    },
    scanned: size - start,
    size,
    lookBack: !isNew || before.scanned === undefined ? 'none' : isFromStart ? 'done' : 'postponed',
    unreadable: watch.unreadable.filter((threadId) => !vanished.includes(threadId)),
    unwatched: watch.unwatched,
  }
}

/** Reads the leaves after an edge; they must lead to the root that was signed. Yields the end of each bundle. */
async function* visitLeaves(
  context: AgentContext,
  from: TreeEdge,
  { size, root }: AcceptedCheckpoint,
  visit: (leaf: Uint8Array, index: number) => void,
): AsyncGenerator<number> {
  let edge = from
  while (edge.size < size) {
    const first = edge.size
    const leaves = await readLeaves(context, first, size)
    leaves.forEach((leaf, at) => visit(leaf, first + at))
    edge = appendLeaves(edge, leaves).edge
    yield edge.size
  }
  if (!bytesEqual(edgeRoot(edge), root))
    throw new ExchangeError('log_unverifiable', {
      what: 'The entries that the exchange shows are not those of the tree that it signed.',
    })
}

function mayLookBack({ lookedBackAt }: MonitorState, size: number, now: Date): boolean {
  if (size <= LOOK_BACK_LEAVES || lookedBackAt === undefined) return true
  return now.getTime() - Date.parse(lookedBackAt) >= LOOK_BACK_MS
}

/** What this run did not watch, it did not search in the leaves that it scanned. */
function stillSearched(before: Searched, ranges: Searched): [string, number][] {
  return [...before].flatMap(([subject, last]): [string, number][] => {
    const watched = ranges.get(subject)
    return watched === undefined ? [] : [[subject, Math.min(last, watched)]]
  })
}

function notShownAnyMore(threadId: string): MonitorFinding {
  return {
    kind: 'hidden',
    sentence: `The exchange does not show ${threadId} any more, which it showed to this agent before.`,
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
