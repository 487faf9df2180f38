import { median } from '../statistics.ts'
import type { Interval } from './stall-recorder.ts'

/** Something that may have delayed requests, and when. */
export interface Cause {
  readonly id: string
  readonly label: string
  readonly intervals: readonly Interval[]
}

/** Of the slowest requests, how much of their time fell together with a cause. */
export interface Explained {
  /** Mean per request. */
  readonly milliseconds: number
  /** Requests of which the cause took at least half. */
  readonly share: number
}

const SLOWEST_SHARE = 0.01
const MAIN_CAUSE_SHARE = 0.5

const lengthOf = ({ from, to }: Interval) => to - from

/** The slowest hundredth, at least one. */
export function slowestOf(requests: readonly Interval[]): Interval[] {
  const count = Math.max(1, Math.round(requests.length * SLOWEST_SHARE))
  return requests.toSorted((left, right) => lengthOf(right) - lengthOf(left)).slice(0, count)
}

export function explain(slowest: readonly Interval[], { intervals }: Cause): Explained {
  const overlaps = slowest.map((request) => overlapOf(request, intervals))
  const isMain = overlaps.filter((overlap, i) => {
    const request = slowest[i]
    return request && overlap >= MAIN_CAUSE_SHARE * lengthOf(request)
  })
  return { milliseconds: mean(overlaps), share: isMain.length / slowest.length }
}

export const meanLength = (requests: readonly Interval[]) => mean(requests.map(lengthOf))

/** Intervals that are longer than usual, without the usual length at their start. */
export function beyondUsual(intervals: readonly Interval[], factor: number): Interval[] {
  const usual = median(intervals.map(lengthOf))
  return intervals
    .filter((interval) => lengthOf(interval) >= factor * usual)
    .map(({ from, to }) => ({ from: from + usual, to }))
}

const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length

/** The intervals of one cause do not overlap each other. */
function overlapOf({ from, to }: Interval, intervals: readonly Interval[]): number {
  return intervals.reduce(
    (sum, each) => sum + Math.max(0, Math.min(to, each.to) - Math.max(from, each.from)),
    0,
  )
}
