import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ago, day, minute, second, shortTime } from './shown-times.ts'

const NOW = '2026-11-18T20:00:00Z'

test('every time that the protocol accepts can be shown, also a leap second', () => {
  const leap = '2026-12-31T23:59:60Z'
  assert.match(String(minute(leap)), />2027-01-01 00:00 UTC</u)
  assert.match(String(shortTime(leap, NOW)), /title="2027-01-01 00:00:00 UTC">1 Jan 2027, 00:00</u)
  assert.match(String(day(leap)), />2027-01-01</u)
  assert.match(String(second(leap)), /2027-01-01 00:00:00 UTC/u)
  assert.match(String(ago(leap, new Date(NOW))), /in 43 days/u)
})

test('a short time has the year only where it differs, and a text that is no time is shown as text', () => {
  assert.match(String(shortTime('2026-11-18T18:05:09+00:00', NOW)), />18 Nov, 18:05</u)
  for (const show of [minute, day, second, (text: string) => ago(text, new Date(NOW))])
    assert.match(String(show('<b>tomorrow\u202e')), /^<bdi>&lt;b&gt;tomorrow[^\u202e]*<\/bdi>$/u)
})
