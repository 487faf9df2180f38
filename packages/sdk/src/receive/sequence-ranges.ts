import type { Gap } from './inbox.ts'

export type Range = Pick<Gap, 'firstSequence' | 'lastSequence'>

/** The numbers from `first` to `last` that are not among `present` (ascending), as ranges. */
export function missingRanges(first: number, last: number, present: readonly number[]): Range[] {
  const ranges: Range[] = []
  let expected = first
  for (const sequence of present) {
    if (sequence < expected) continue
    if (sequence > last) break
    if (sequence > expected) ranges.push({ firstSequence: expected, lastSequence: sequence - 1 })
    expected = sequence + 1
  }
  if (expected <= last) ranges.push({ firstSequence: expected, lastSequence: last })
  return ranges
}

/** The rest of a gap after one of its numbers arrived. */
export function withoutSequence(gap: Gap, sequence: number): Gap[] {
  const before = { ...gap, lastSequence: sequence - 1 }
  const after = { ...gap, firstSequence: sequence + 1 }
  return [before, after].filter(({ firstSequence, lastSequence }) => firstSequence <= lastSequence)
}

export const covers = (gap: Range, sequence: number) =>
  gap.firstSequence <= sequence && sequence <= gap.lastSequence
