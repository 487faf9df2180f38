import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOAD_SAMPLE_MS, watchEventLoopLoad } from './event-loop-load.ts'

test('a saturated event loop counts as busy, an idle one does not', async () => {
  const isBusy = watchEventLoopLoad()
  const until = performance.now() + 3 * LOAD_SAMPLE_MS
  while (performance.now() < until) await new Promise(setImmediate)
  assert.equal(isBusy(), true)
  await sleep(4 * LOAD_SAMPLE_MS)
  assert.equal(isBusy(), false)
})
