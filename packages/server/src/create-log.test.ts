import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createLog } from './create-log.ts'

function logged(isTTY: boolean, level = 'info', json = false) {
  const lines: string[] = []
  const log = createLog(level, { output: { isTTY, write: (text) => lines.push(text) }, json })
  log.debug('not at this level')
  log.info({ method: 'POST', status: 202, correlation_id: 'a b\u009b31m' }, 'request')
  return lines
}

test('without a terminal, or with --json, each line is one JSON object', () => {
  for (const lines of [logged(false), logged(true, 'info', true)]) {
    const [line = '', ...others] = lines
    assert.deepEqual(others, [])
    const { msg, status } = JSON.parse(line) as Record<string, unknown>
    assert.deepEqual([msg, status], ['request', 202])
  }
})

test('on a terminal a line is readable, and control characters from a caller are escaped', () => {
  const [line = ''] = logged(true)
  assert.match(
    stripVTControlCharacters(line),
    /^\d\d:\d\d:\d\d\.\d{3} info {2}request method=POST status=202 correlation_id="a b�31m"\n$/u,
  )
})

test('AEX_LOG_LEVEL decides what is logged', () => {
  assert.equal(logged(false, 'debug').length, 2)
  assert.deepEqual(logged(false, 'silent'), [])
})
