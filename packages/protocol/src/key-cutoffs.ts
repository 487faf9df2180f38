import { isEarlier } from './instants.ts'

/** One revocation of a key: from when on the key does not count, and when that was recorded. */
export interface KeyCutoff {
  readonly invalidFrom: string
  readonly recordedAt: string
}

/** The members of a key that decide when it counts. */
export interface KeyEntry {
  readonly use: string
  readonly status: string
  readonly valid_from: string
  readonly invalid_from?: string | null | undefined
  readonly revoked_at?: string | null | undefined
}

/** An event of a key, as evidence lists it. */
interface KeyHistoryEvent {
  readonly kind: string
  readonly recorded_at: string
  readonly details: object
}

/**
 * ID-04: every time from which on the key does not count, the earliest first. A cutoff that was recorded no earlier than
 * an earlier one changes nothing and is left out.
 */
export function cutoffsOf(key: KeyEntry, events: readonly KeyHistoryEvent[] = []): KeyCutoff[] {
  const recorded = revocationsIn(events)
  const isShown = typeof key.invalid_from === 'string' || (key.status === 'revoked' && recorded.length === 0)
  // Revoked without a date: it never counted.
  const invalidFrom = key.invalid_from ?? key.valid_from
  const shown = isShown ? [{ invalidFrom, recordedAt: key.revoked_at ?? invalidFrom }] : []
  const cutoffs: KeyCutoff[] = []
  for (const cutoff of [...recorded, ...shown]
    .map((each) => readable(each, key.valid_from))
    .toSorted(byTime)) {
    const before = cutoffs.at(-1)
    if (!before || isEarlier(cutoff.recordedAt, before.recordedAt)) cutoffs.push(cutoff)
  }
  return cutoffs
}

const ALWAYS = '0001-01-01T00:00:00Z'

/** A time that cannot be read counts against the key: it never counted, and that was always known. */
function readable({ invalidFrom, recordedAt }: KeyCutoff, validFrom: string): KeyCutoff {
  const isTime = (time: string) => isEarlier(time, ALWAYS) !== undefined
  return {
    invalidFrom: isTime(invalidFrom) ? invalidFrom : validFrom,
    recordedAt: isTime(recordedAt) ? recordedAt : ALWAYS,
  }
}

/** The revocations among the events of a key, the earliest cutoff first. */
export function revocationsIn(events: readonly KeyHistoryEvent[]): KeyCutoff[] {
  return events
    .flatMap(({ kind, recorded_at: recordedAt, details }): KeyCutoff[] => {
      const invalidFrom: unknown = Reflect.get(details, 'invalid_from')
      return kind === 'revoked' && typeof invalidFrom === 'string' ? [{ invalidFrom, recordedAt }] : []
    })
    .toSorted(byTime)
}

function byTime(a: KeyCutoff, b: KeyCutoff): number {
  if (isEarlier(a.invalidFrom, b.invalidFrom)) return -1
  return isEarlier(b.invalidFrom, a.invalidFrom) ? 1 : 0
}
