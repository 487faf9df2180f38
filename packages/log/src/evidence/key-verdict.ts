import { isEarlier } from '@agent-exchange/protocol'
import type { KeyRecord } from './evidence-bundle.ts'
import type { RingKey } from './key-ring.ts'

/** One revocation of a key: from when on it does not count, and when that was recorded. */
export interface Cutoff {
  readonly invalidFrom: string
  readonly recordedAt: string
}

/** What a signature says of its own time, and when the exchange got it. */
export interface SignedAt {
  /** Left out where only arrival counts: a package receipt may say truthfully what happened before a rotation. */
  readonly claimedAt?: string | undefined
  readonly arrivedAt: string
}

export interface KeyVerdict {
  readonly ok: boolean
  readonly doubt?: true
  readonly detail: string
}

/**
 * ID-05 over a signature that the exchange accepted. What was signed before the cutoff stays valid although the key
 * was disowned later; what was accepted after it, before anybody had recorded it, is a doubt.
 */
export function judgeKey({ record, cutoffs, signer: { keyId } }: RingKey, at: SignedAt): KeyVerdict {
  const times = [at.arrivedAt, ...(at.claimedAt === undefined ? [] : [at.claimedAt])]
  const isAfter = (cutoff: string) => times.some((time) => isEarlier(time, cutoff) !== true)
  if (times.some((time) => isEarlier(time, record.key.valid_from) !== false))
    return { ok: false, detail: `${keyId} was not valid yet` }
  // Cutoffs get later, and their records earlier, so that both ends are found by halving.
  const passed = firstWhere(cutoffs, ({ invalidFrom }) => !isAfter(invalidFrom))
  const recorded = firstWhere(cutoffs, ({ recordedAt }) => isEarlier(recordedAt, at.arrivedAt) === true)
  const known = recorded < passed ? cutoffs[recorded] : undefined
  if (known) return { ok: false, detail: `${keyId} was revoked, not valid from ${known.invalidFrom} on` }
  const [late] = passed > 0 ? cutoffs : []
  if (late)
    return {
      ok: true,
      doubt: true,
      detail: `by ${keyId}, already invalid from ${late.invalidFrom} on, which was recorded only at ${late.recordedAt}`,
    }
  const [disowned] = cutoffs
  return disowned
    ? { ok: true, detail: `by ${keyId}, disowned afterwards (not valid from ${disowned.invalidFrom} on)` }
    : { ok: true, detail: `by ${keyId}` }
}

/** The first place in a list from which on the condition holds; its length where it never does. */
function firstWhere<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let [from, to] = [0, list.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(list[middle] as T)) to = middle
    else from = middle + 1
  }
  return from
}

/**
 * ID-04: every time from which on the key does not count, the earliest first. One that was recorded no earlier than an
 * earlier one changes nothing, and is left out.
 */
export function cutoffsOf({ key, events = [] }: KeyRecord): Cutoff[] {
  const recorded = revocationsIn(events)
  const isShown = key.invalid_from !== undefined || (key.status === 'revoked' && recorded.length === 0)
  // Revoked without a date: it never counted.
  const invalidFrom = key.invalid_from ?? key.valid_from
  const shown = isShown ? [{ invalidFrom, recordedAt: key.revoked_at ?? invalidFrom }] : []
  const cutoffs: Cutoff[] = []
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
function readable({ invalidFrom, recordedAt }: Cutoff, validFrom: string): Cutoff {
  const isTime = (time: string) => isEarlier(time, ALWAYS) !== undefined
  return {
    invalidFrom: isTime(invalidFrom) ? invalidFrom : validFrom,
    recordedAt: isTime(recordedAt) ? recordedAt : ALWAYS,
  }
}

/** The revocations among what happened to a key, the earliest cutoff first. */
export function revocationsIn(events: NonNullable<KeyRecord['events']>): Cutoff[] {
  return events
    .flatMap(({ kind, recorded_at: recordedAt, details }): Cutoff[] => {
      const invalidFrom: unknown = Reflect.get(details, 'invalid_from')
      return kind === 'revoked' && typeof invalidFrom === 'string' ? [{ invalidFrom, recordedAt }] : []
    })
    .toSorted(byTime)
}

function byTime(a: Cutoff, b: Cutoff): number {
  if (isEarlier(a.invalidFrom, b.invalidFrom)) return -1
  return isEarlier(b.invalidFrom, a.invalidFrom) ? 1 : 0
}
