import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOAD_SAMPLE_MS } from './limits.ts'
import { watchOwnLoad } from './own-load.ts'

test('a process that does nothing but work is busy, one that waits is not', async () => {
  const isBusy = watchOwnLoad()
  const until = performance.now() + 3 * LOAD_SAMPLE_MS
  while (performance.now() < until) await new Promise(setImmediate)
  assert.equal(isBusy(), true)
  await sleep(4 * LOAD_SAMPLE_MS)
  assert.equal(isBusy(), false)
})
