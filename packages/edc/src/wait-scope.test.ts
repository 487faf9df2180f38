import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WaitOptions } from '@agent-exchange/sdk'
import { MovableClock } from '@agent-exchange/edc-simulator'
import { rejectsWith } from './contract-suite.fixture.ts'
import { SingleFlight } from './edc-v3/single-flight.ts'
import { LIMITS } from './connector-limits.ts'
import { systemClock, waitScope } from './wait-scope.ts'

test('a backoff sleeps within its bounds, and never past the deadline', async () => {
  const { firstMs, longestMs, jitter } = LIMITS.backoff
  for (const attempt of [0, 1, 5, 100]) {
    const clock = new MovableClock()
    const [scope, begun] = [waitScope(clock, { deadlineMs: 60_000 }), clock.now()]
    assert.equal(await scope.backOff(attempt), true)
    const slept = clock.now() - begun
    assert.ok(slept >= firstMs && slept <= longestMs * (1 + jitter), String(slept))
  }
  const clock = new MovableClock()
  const [scope, begun] = [waitScope(clock, { deadlineMs: 50 }), clock.now()]
  assert.equal(await scope.backOff(100), false)
  assert.equal(clock.now() - begun, 50)
})

test('a pause ends at the deadline, and at once when aborted', async () => {
  const clock = new MovableClock()
  const scope = waitScope(clock, { deadlineMs: 1_000 })
  assert.equal(await scope.pause(400), true)
  assert.equal(await scope.pause(5_000), false)
  assert.equal(scope.left(), 0)
  const stop = new AbortController()
  const real = waitScope(systemClock, { signal: stop.signal, deadlineMs: 60_000 })
  const begun = Date.now()
  setTimeout(() => stop.abort(), 20)
  await rejectsWith('aborted', real.pause(30_000))
  assert.ok(Date.now() - begun < 5_000)
  assert.throws(() => waitScope(clock, { deadlineMs: 0 }), /positive/u)
})

test('work that is shared is done once; whoever gives up does not take the others along', async () => {
  const flights = new SingleFlight<number>()
  const stop = new AbortController()
  let runs = 0
  const begin = (options: WaitOptions) => {
    const scope = waitScope(systemClock, options)
    return flights.run('key', scope, async () => {
      const run = ++runs
      await scope.pause(run === 1 ? 5_000 : 300)
      return run
    })
  }
  const first = begin({ signal: stop.signal })
  const others = [begin({}), begin({})]
  stop.abort()
  await rejectsWith('aborted', first)
  await rejectsWith('timeout', begin({ deadlineMs: 20 }))
  await rejectsWith('aborted', begin({ signal: AbortSignal.timeout(20) }))
  assert.deepEqual(await Promise.all(others), [2, 2])
})
