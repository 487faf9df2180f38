import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backgroundPace, BackgroundWorkEnded } from './background-pace.ts'

const WORK_MS = 10
const never = new AbortController().signal

function work(): void {
  const end = performance.now() + WORK_MS
  while (performance.now() < end);
}

test('after work it rests nine times as long, and after next to none not at all', async () => {
  const pace = backgroundPace(() => false, never)
  let turns = 0
  const turn = setInterval(() => (turns += 1), 1)
  await pace()
  assert.equal(turns, 0)
  work()
  const begun = performance.now()
  await pace()
  clearInterval(turn)
  assert.ok(performance.now() - begun >= 8 * WORK_MS)
  assert.ok(turns > 0, 'others have their turn')
})

test('work that has to end does, also in the middle of a rest', async () => {
  const lost = backgroundPace(() => true, never)
  work()
  await assert.rejects(lost(), BackgroundWorkEnded)
  const stop = new AbortController()
  const stopped = backgroundPace(() => false, stop.signal)
  work()
  setImmediate(() => stop.abort())
  await assert.rejects(stopped(), BackgroundWorkEnded)
})
