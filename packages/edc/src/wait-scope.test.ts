import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rejectsWith } from './contract-suite.fixture.ts'
import { SingleFlight } from './edc-v3/single-flight.ts'
import { LIMITS } from './limits.ts'
import type { WaitOptions } from './port.ts'
import { MovableClock } from './simulator/index.ts'
import { backoff, systemClock, waitScope } from './wait-scope.ts'

test('the backoff grows, stays in its bounds and never dips below its minimum', () => {
  fc.assert(
    fc.property(fc.nat(100), (attempt) => {
      const ms = backoff(attempt)
      assert.ok(ms >= LIMITS.pollMinimumMs && ms <= LIMITS.pollMaximumMs * 1.25)
    }),
  )
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
