import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Checks, MAXIMUM_FAULTS, VerdictReached } from './check.ts'

test('a verification ends with a bounded number of contradictions: a hostile file causes no more work', () => {
  const checks = new Checks()
  const fail = () => checks.fails('entry_state')
  for (let index = 1; index < MAXIMUM_FAULTS; index++) fail()
  assert.throws(fail, VerdictReached)
  assert.equal(checks.all.length, MAXIMUM_FAULTS)
})
