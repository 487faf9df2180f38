import { LABEL_LENGTH, LEAF_LENGTH } from '@agent-exchange/log'
import type { MonitorState } from './monitor-state.ts'
import { toHex, type Watched, type WatchedLabels } from './watched.ts'

export interface MonitorFinding {
  readonly kind:
    | 'duplicate'
    | 'hidden'
    | 'missing'
    | 'altered'
    | 'overdue'
    | 'unknown_key'
    | 'foreign_key_event'
    | 'key_gap'
    | 'entry_gap'
    | 'concealed'
  /** A whole sentence that says what the operator did. */
  readonly sentence: string
  readonly index?: number
}

/** Subjects and the last position or number up to which every scanned leaf was searched for their labels. */
export type Searched = ReadonlyMap<string, number>

/** The last number that is watched, by subject. */
export function rangesOf(labels: WatchedLabels): Map<string, number> {
  const ranges = new Map<string, number>()
  for (const { subject, number } of labels.values())
    ranges.set(subject, Math.max(number, ranges.get(subject) ?? 0))
  return ranges
}

export function isSearched(
  { subject, number }: Pick<Watched, 'subject' | 'number'>,
  searched: Searched,
): boolean {
  return number <= (searched.get(subject) ?? 0)
}

/** Compares leaves with the labels of this agent. */
export class LabelScan {
  readonly findings: MonitorFinding[] = []
  readonly #labels: WatchedLabels
  readonly #found: Map<string, number>

  constructor(labels: WatchedLabels, found: MonitorState['found']) {
    this.#labels = labels
    this.#found = new Map(found)
  }

  get found(): ReadonlyMap<string, number> {
    return this.#found
  }

  visit(leaf: Uint8Array, index: number): void {
    // An entry of another length is of a later version of the format.
    if (leaf.length !== LEAF_LENGTH) return
    const label = toHex(leaf.subarray(0, LABEL_LENGTH))
    const watched = this.#labels.get(label)
    if (!watched) return
    const earlier = this.#found.get(label)
    if (earlier === undefined || watched.index === index) this.#found.set(label, index)
    if (earlier !== undefined && earlier !== index)
      this.#add(
        'duplicate',
        index,
        `The log holds ${watched.what} twice, at leaf ${Math.min(earlier, index)} and at leaf ${Math.max(earlier, index)}: the operator keeps two histories.`,
      )
  }

  /** Compares what the exchange shows with what was found in the first `size` leaves. */
  compare({ start, size, searched }: { start: number; size: number; searched: Searched }): void {
    for (const [label, watched] of this.#labels) {
      const { what, isShown, index } = watched
      const found = this.#found.get(label)
      if (found !== undefined && !isShown)
        this.#add(
          'hidden',
          found,
          `The log holds ${what} at leaf ${found}, and the exchange does not show this event: it hides it.`,
        )
      const wasRead = index !== undefined && (index >= start || isSearched(watched, searched))
      if (wasRead && index < size && found !== index)
        this.#add(
          'missing',
          index,
          `The exchange says that ${what} is leaf ${index}, and that leaf is another one.`,
        )
    }
  }

  /** Events that the exchange shows and that wait for a leaf, each with the time when this was first seen. */
  waiting({
    before,
    now,
    overdueMs,
  }: {
    before: MonitorState
    now: Date
    overdueMs: number
  }): [string, string][] {
    const known = new Map(before.waiting)
    const waiting: [string, string][] = []
    for (const [label, { what, isShown, index }] of this.#labels) {
      if (!isShown || index !== undefined || this.#found.has(label)) continue
      const since = known.get(label) ?? now.toISOString()
      waiting.push([label, since])
      if (now.getTime() - Date.parse(since) > overdueMs)
        this.#add(
          'overdue',
          undefined,
          `The exchange accepted ${what}, and the log does not hold it since ${since}.`,
        )
    }
    return waiting
  }

  #add(kind: MonitorFinding['kind'], index: number | undefined, sentence: string): void {
    this.findings.push({ kind, sentence, ...(index !== undefined && { index }) })
  }
}
