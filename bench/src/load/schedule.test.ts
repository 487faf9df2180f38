import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../random.ts'
import { poissonSchedule, steadySchedule, type Schedule } from './schedule.ts'

function firstOf(schedule: Schedule, count: number): number[] {
  const times: number[] = []
  for (const at of schedule) {
    times.push(at)
    if (times.length === count) break
  }
  return times
}

test('a steady schedule has equal gaps', () => {
  assert.deepEqual(firstOf(steadySchedule(250), 4), [0, 4, 8, 12])
})

test('a Poisson schedule is ascending and has the given rate and exponential gaps', () => {
  const times = firstOf(poissonSchedule(250, seeded(1)), 20_000)
  const gaps = times.map((at, i) => at - (times[i - 1] ?? 0))
  assert.ok(gaps.every((gap) => gap >= 0))
  const mean = (times.at(-1) ?? 0) / times.length
  assert.ok(Math.abs(mean - 4) < 0.1, `mean gap ${mean} ms`)
  // Of exponential gaps the standard deviation equals the mean, and 1/e of all exceed it.
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length)
  assert.ok(Math.abs(deviation / mean - 1) < 0.05, `deviation ${deviation} ms`)
  const longer = gaps.filter((gap) => gap > mean).length / gaps.length
  assert.ok(Math.abs(longer - 1 / Math.E) < 0.02, `${longer} of all gaps exceed the mean`)
})

test('the same seed gives the same schedule', () => {
  assert.deepEqual(firstOf(poissonSchedule(50, seeded(3)), 10), firstOf(poissonSchedule(50, seeded(3)), 10))
})
