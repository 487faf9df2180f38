import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import fc from 'fast-check'
import { backoffMs, pause, withJitter } from './pause-and-backoff.ts'

test('a backoff doubles up to its limit, and jitter never shortens it', () => {
  const withoutJitter = [1, 2, 3, 4, 5].map((n) => backoffMs(n, { firstMs: 100, longestMs: 700, jitter: 0 }))
  assert.deepEqual(withoutJitter, [100, 200, 400, 700, 700])
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (n, jitter) => {
        const ms = backoffMs(n, { firstMs: 100, longestMs: 3_000, jitter })
        assert.ok(ms >= 100 && ms <= 3_000 * (1 + jitter), String(ms))
      },
    ),
  )
  assert.ok(withJitter(1_000, 0.2) >= 1_000)
})

test('a pause ends at the abort and leaves no listener behind', async () => {
  const stop = new AbortController()
  const [long, short] = [pause(600_000, stop.signal), pause(1, stop.signal)]
  await short
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1)
  stop.abort()
  await long
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0)
  await pause(600_000, stop.signal)
  await pause(1)
})
