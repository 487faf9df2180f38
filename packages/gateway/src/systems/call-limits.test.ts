import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCallLimits } from './call-limits.ts'

test('a system is limited by calls a minute and by calls at the same time, others are not', () => {
  let at = 0
  const limits = createCallLimits(() => at, { callsPerMinute: 3, maximumRunning: 2 })
  assert.equal(limits.begin('a'), undefined)
  assert.equal(limits.begin('a'), undefined)
  assert.deepEqual(limits.begin('a'), { waitSeconds: 1 })
  assert.equal(limits.begin('b'), undefined)
  limits.end('a')
  assert.equal(limits.begin('a'), undefined)
  limits.end('a')
  limits.end('a')
  assert.deepEqual(limits.begin('a'), { waitSeconds: 20 })
  at = 20_000
  assert.equal(limits.begin('a'), undefined)
})
