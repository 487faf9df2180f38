import { keyLabel } from '@agent-exchange/log'
import type { PackageEvidence, LoggedKeyEvent } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { packagesOf, readPackageEvidence } from '../evidence/package-evidence.ts'
import { isNotFound } from '../connection/not-found.ts'
import type { MonitorFinding } from './label-scan.ts'
import { fetchRecords } from '../log/log-answers.ts'
import { shownKeyLeaf } from '../log/shown-key-leaf.ts'
import { isChained, shownChain, watchChain } from './watched-chain.ts'
import { shownAt, toHex, type Watched, type WatchedLabels } from './watched.ts'
import { watchThreadRecords } from './watched-thread-records.ts'

/**
 * At least these numbers of positions and key events beyond the last known one are watched: an event that the exchange hides is
 * among them. Positions have no hole, so a few of each chain suffice; those of a thread are shared by all its packages.
 * Key events are few, and a false key does the most harm.
 */
const CHAIN_POSITIONS_AHEAD = 16
const THREAD_POSITIONS_AHEAD = 64
const KEY_EVENTS_AHEAD = 4_096
/** Each label takes about 200 bytes of memory. */
const MAXIMUM_LABELS = 500_000
/** Labels of the smallest thread. */
const LEAST_LABELS = 2 * CHAIN_POSITIONS_AHEAD

interface Watch {
  readonly labels: WatchedLabels
  /** What is wrong with what the exchange shows, whatever the log holds. */
  readonly findings: readonly MonitorFinding[]
  /** Threads whose labels are watched. */
  readonly threads: readonly string[]
  /** Threads that the exchange does not show. */
  readonly unreadable: readonly string[]
  /** Threads for which there is no room. */
  readonly unwatched: readonly string[]
}

interface ToWatch {
  /** The most important first: the last ones may find no room. */
  readonly threads: readonly string[]
  readonly keyEvents: readonly LoggedKeyEvent[]
  readonly onStep?: (() => Promise<void>) | undefined
  readonly maximumLabels?: number
}

/** Labels of everything that could concern this agent: its key events, and all positions of its packages. */
export async function watchLabels(
  context: AgentContext,
  { threads, keyEvents, onStep, maximumLabels = MAXIMUM_LABELS }: ToWatch,
): Promise<Watch> {
  const labels = new Map<string, Watched>()
  const findings: MonitorFinding[] = []
  watchKeyEvents(context.identity.agentId, keyEvents, labels)
  const [watched, unreadable, unwatched]: [string[], string[], string[]] = [[], [], []]
  for (const threadId of threads) {
    if (labels.size + LEAST_LABELS > maximumLabels) {
      // Without a request for each.
      unwatched.push(threadId)
      continue
    }
    await onStep?.()
    const packages = await packagesIn(context, threadId, onStep)
    if (!packages) unreadable.push(threadId)
    else if (labels.size + countOf(packages) > maximumLabels) unwatched.push(threadId)
    else {
      for (const [label, each] of await watchThread(context, { threadId, packages, findings, onStep }))
        labels.set(label, each)
      watched.push(threadId)
    }
  }
  return { labels, findings, threads: watched, unreadable, unwatched }
}

/** Undefined where the exchange does not show the thread. */
async function packagesIn(
  context: AgentContext,
  threadId: string,
  onStep: ToWatch['onStep'],
): Promise<PackageEvidence[] | undefined> {
  try {
    const packages: PackageEvidence[] = []
    for (const id of await packagesOf(context, threadId)) {
      packages.push(await readPackageEvidence(context, id))
      await onStep?.()
    }
    return packages
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

interface ShownThread extends Pick<ToWatch, 'onStep'> {
  readonly threadId: string
  readonly packages: readonly PackageEvidence[]
  readonly findings: MonitorFinding[]
}

/** Version 1 counts the entries of the thread, version 2 those of each package. */
async function watchThread(
  context: AgentContext,
  { threadId, packages, findings, onStep }: ShownThread,
): Promise<Map<string, Watched>> {
  const labels = new Map<string, Watched>()
  const earlier = packages.filter((each) => !isChained(each))
  const end = lastInThread(packages)
  for (const evidence of packages.filter(isChained)) {
    const chain = shownChain(evidence)
    findings.push(...chain.findings)
    const records = await fetchRecords(context, { package_id: evidence.package_id })
    watchChain(chain, records, { end: lastInChain(evidence), labels })
    await onStep?.()
  }
  if (earlier.length > 0) await watchThreadRecords(context, { threadId, packages: earlier, end, labels })
  return labels
}

function countOf(packages: readonly PackageEvidence[]): number {
  const inThread = lastInThread(packages)
  return packages.reduce((sum, each) => sum + (isChained(each) ? lastInChain(each) : inThread), 0)
}

function lastInThread(packages: readonly PackageEvidence[]): number {
  const positions = packages.flatMap(({ entries }) => entries.map(({ position }) => position))
  return ahead(
    positions.reduce((last, position) => Math.max(last, position), 0),
    THREAD_POSITIONS_AHEAD,
  )
}

function lastInChain({ entries, hidden_entries: hidden = [] }: PackageEvidence): number {
  return ahead(entries.length + hidden.length, CHAIN_POSITIONS_AHEAD)
}

/** In steps, so that a label that was never searched is rare: it makes the monitor look back. */
function ahead(last: number, step: number): number {
  return (Math.floor(last / step) + 2) * step
}

function watchKeyEvents(
  agentId: string,
  events: readonly LoggedKeyEvent[],
  labels: Map<string, Watched>,
): void {
  const shown = new Map(events.map((event) => [event.number, event]))
  const last = ahead(events.length, KEY_EVENTS_AHEAD)
  for (let number = 1; number <= last; number++) {
    const event = shown.get(number)
    const leaf = event && shownKeyLeaf(agentId, event)
    labels.set(toHex(keyLabel({ agentId, number })), {
      what: `key event ${number} of ${agentId}`,
      subject: agentId,
      number,
      ...shownAt(event),
      ...(leaf && { leaf }),
    })
  }
}
