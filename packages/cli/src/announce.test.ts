import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { createAnnouncements } from './announce.ts'

function announce(isTTY: boolean, json = false): string {
  let written = ''
  const announcements = createAnnouncements({
    output: { isTTY, write: (text) => (written += text) },
    json,
  })
  announcements.progress('Starting PostgreSQL')
  announcements.say('Running.', {
    lines: ['Running.', '  at http://127.0.0.1'],
    facts: { url: 'http://127.0.0.1' },
  })
  return written
}

test('on a terminal: a spinner while it takes, then lines for a person', () => {
  const text = announce(true)
  assert.match(
    stripVTControlCharacters(text),
    /^\r⠋ Starting PostgreSQL\rRunning\.\n {2}at http:\/\/127\.0\.0\.1\n$/u,
  )
})

test('elsewhere, and with --json: one JSON object a line, with the facts as members', () => {
  assert.equal(announce(true, true).split('\n').length, 3)
  const [first, second, ...rest] = announce(false).split('\n')
  assert.equal((JSON.parse(first ?? '') as Record<string, unknown>)['msg'], 'Starting PostgreSQL')
  const { msg, url } = JSON.parse(second ?? '') as Record<string, unknown>
  assert.deepEqual([msg, url, rest], ['Running.', 'http://127.0.0.1', ['']])
})

test('the reason why a command ends is text for a person, and fatal by the levels of the log', () => {
  const failed = (isTTY: boolean) => {
    let written = ''
    createAnnouncements({ output: { isTTY, write: (text) => (written += text) } }).fail('No database.')
    return written
  }
  assert.equal(failed(true), 'No database.\n')
  const { level, msg } = JSON.parse(failed(false)) as Record<string, unknown>
  assert.deepEqual([level, msg], [60, 'No database.'])
})
