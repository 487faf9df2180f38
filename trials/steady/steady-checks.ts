import { DAY_SECONDS, secondsAfter } from '@agent-exchange/server/clock'
import { startOfIds } from '../../packages/service/src/kernel/ids.ts'
import {
  ATTEMPTS,
  CONTENTS,
  listPartitions,
  PARTITIONED_TABLES,
} from '../../packages/service/src/features/retention/partitioned-tables.ts'
import type { Day, SteadyScene } from './steady-day.ts'

export interface Check {
  readonly passes: boolean
  readonly text: string
}

/** Until the longest retention has passed for the first time, the tables grow. */
const WARM_UP_DAYS = 12
/** Sizes vary with autovacuum. */
const MAXIMUM_GROWTH = 1.25

/** Median of the p99 of each day: at most this many times larger in the last third, unless the difference is small. */
const MAXIMUM_SLOWDOWN = 2
/** Milliseconds. A busy machine causes differences of this size without any growth. */
const SLOWDOWN_NOISE_MS = 25
/** Share of the CPU: a day in which the host took more says nothing about the service. */
const MAXIMUM_STOLEN = 0.03
/** To compare thirds. */
const MINIMUM_DAYS = 3
const TOO_SHORT = 'too few days to compare'

/** The size of the tables that retention limits, in the last third compared with the third before it. */
export function checkFlat(days: readonly Day[]): Check {
  const thirds = thirdsOf(days)
  if (!thirds) return { passes: true, text: `size: ${TOO_SHORT}` }
  const largest = (some: readonly Day[]) => Math.max(...some.map(({ limitedBytes }) => limitedBytes))
  const growth = largest(thirds.last) / largest(thirds.middle)
  return {
    passes: growth <= MAXIMUM_GROWTH,
    text: `largest size of limited tables, last third to middle third: ${growth.toFixed(2)}, at most ${MAXIMUM_GROWTH}`,
  }
}

/** The time to accept a package, in the last third compared with the first one. Medians ignore single slow days. */
export function checkLatency(days: readonly Day[]): Check {
  const thirds = thirdsOf(days)
  if (!thirds) return { passes: true, text: `p99: ${TOO_SHORT}` }
  const calm = (third: readonly Day[]) => third.filter(({ stolen }) => stolen <= MAXIMUM_STOLEN)
  const [early, late] = [calm(thirds.first), calm(thirds.last)]
  if (Math.min(early.length, late.length) < MINIMUM_DAYS)
    return { passes: true, text: 'p99: not compared, the host of this machine took CPU time on most days' }
  const [first, last] = [medianP99(early), medianP99(late)]
  return {
    passes: last <= first * MAXIMUM_SLOWDOWN || last - first <= SLOWDOWN_NOISE_MS,
    text:
      `median p99, last third to first third: ${last.toFixed(1)} ms (${late.length} days) to ${first.toFixed(1)} ms ` +
      `(${early.length} days), at most ${MAXIMUM_SLOWDOWN} times or ${SLOWDOWN_NOISE_MS} ms more`,
  }
}

/** One webhook for each package. */
export function checkArrivals(sent: number, arrived: number): Check {
  return { passes: arrived === sent, text: `${arrived} webhooks arrived for ${sent} packages` }
}

function thirdsOf(days: readonly Day[]) {
  const steady = days.slice(WARM_UP_DAYS)
  const third = Math.floor(steady.length / 3)
  if (third < MINIMUM_DAYS) return undefined
  return {
    first: steady.slice(0, third),
    middle: steady.slice(third, 2 * third),
    last: steady.slice(-third),
  }
}

export function medianP99(days: readonly Day[]): number {
  const sorted = days.map(({ p99 }) => p99).toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Expired data can neither be read over HTTP nor found in the tables. */
export async function checkGone(
  { exchange, db, profile, sent }: SteadyScene,
  days: readonly Day[],
  retainedAt: string,
): Promise<Check> {
  const { owner } = exchange
  const kept = profile['O-18']
  const before = (count: number) => secondsAfter(retainedAt, -count * DAY_SECONDS)
  const contentsBefore = before(kept.content_days_after_expiry + CONTENTS.days)
  // A delivery under way while the clock moves to the next day is finished a day later.
  const deliveriesBefore = kept.delivery_days + 1
  const expired = sent.filter(({ expires_at }) => expires_at < contentsBefore)
  const answers = await Promise.all(
    expired.map(({ package_id }) => owner.get(`/content/packages/${package_id}`)),
  )
  const readable = answers.filter(({ status }) => status === 200).length
  const [rows] = await db<Record<string, number>[]>`
    select
      (select count(*) from package_content where expires_at < ${contentsBefore}) as contents,
      (select count(*) from delivery_attempt
        where delivery_id < ${startOfIds('dlv', before(deliveriesBefore + ATTEMPTS.days))}) as attempts,
      (select count(*) from delivery
        where delivery_id < ${startOfIds('dlv', before(deliveriesBefore))}) as deliveries,
      (select count(*) from notification
        where notification_id < ${startOfIds('ntf', before(kept.notification_days))}) as notifications,
      (select count(*) from retired_partition) as detached`
  const left = Object.entries(rows ?? {}).filter(([, count]) => count > 0)
  const dropped = days.reduce((sum, day) => sum + day.dropped, 0)
  const lists = await Promise.all(PARTITIONED_TABLES.map((table) => listPartitions(db, table)))
  return {
    passes: readable === 0 && left.length === 0 && dropped > 0,
    text:
      `${dropped} partitions dropped, ${lists.flat().length} left; of ${expired.length} expired packages ${readable} ` +
      `could be read; expired rows left: ${left.map(([kind, count]) => `${count} ${kind}`).join(', ') || 'none'}`,
  }
}

/** O-13: the bytes that count against the quota are exactly those that are stored. */
export async function checkUsage({ exchange, db }: SteadyScene): Promise<Check> {
  const [row] = await db<{ counted: number; stored: number }[]>`
    select (select stored_bytes from organization_usage where organization_id = ${exchange.sender.organizationId})
        as counted,
      (select coalesce(sum(octet_length(before) + octet_length(payload) + octet_length(after)), 0)::bigint
        from package_content) as stored`
  const { counted, stored } = row ?? {}
  return { passes: counted === stored, text: `bytes counted ${counted}, bytes stored ${stored}` }
}
