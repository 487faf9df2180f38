import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALIVE_SECONDS } from './process-liveness.ts'
import type { RegisteredProcess } from './live-processes.ts'
import { createProcessWatch } from './process-watch.ts'

const STEP_SECONDS = 5
const process = (seen_at: string, process_id = 'process_old'): RegisteredProcess => ({
  process_id,
  role: 'api',
  code_level: 1,
  seen_at,
  is_live: false,
})

function watching() {
  let seconds = 1_000
  const watch = createProcessWatch(() => seconds * 1_000)
  return {
    /** How many processes may still run, after a pause. */
    count: (pause: number, ...registered: RegisteredProcess[]) => {
      seconds += pause
      return watch(registered).length
    },
  }
}

test('a process is gone once its report has not changed for the time that a process counts as alive', () => {
  const { count } = watching()
  assert.equal(count(0, process('a')), 1)
  for (let waited = STEP_SECONDS; waited < ALIVE_SECONDS; waited += STEP_SECONDS)
    assert.equal(count(STEP_SECONDS, process('a')), 1, `${waited} s`)
  assert.equal(count(STEP_SECONDS, process('a')), 0)
  assert.equal(count(STEP_SECONDS, process('b')), 1)
  assert.equal(count(STEP_SECONDS), 0)
})

test('after a gap between two reads the wait starts again: reports may have been impossible as well', () => {
  const { count } = watching()
  count(0, process('a'))
  for (let waited = STEP_SECONDS; waited < ALIVE_SECONDS; waited += STEP_SECONDS)
    count(STEP_SECONDS, process('a'))
  assert.equal(count(30, process('a')), 1)
  assert.equal(count(STEP_SECONDS, process('a')), 1)
})

test('each process has its own wait', () => {
  const { count } = watching()
  count(0, process('a'))
  for (let waited = STEP_SECONDS; waited < ALIVE_SECONDS; waited += STEP_SECONDS)
    count(STEP_SECONDS, process('a'))
  assert.equal(count(STEP_SECONDS, process('a'), process('a', 'process_other')), 1)
})
