import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { retryAfterSeconds } from './retry-after.ts'

const NOW = '2026-03-02T08:00:00.000Z'

const CASES: readonly (readonly [string | undefined, number | undefined])[] = [
  ['0', 0],
  ['120', 120],
  [' 120 ', 120],
  ['007', 7],
  ['86400', 86_400],
  ['86401', 86_400],
  ['1e3', undefined],
  ['1.5', undefined],
  ['-5', undefined],
  ['+5', undefined],
  ['0x10', undefined],
  ['10, 20', undefined],
  ['', undefined],
  [undefined, undefined],
  ['Mon, 02 Mar 2026 08:01:00 GMT', 60],
  ['Monday, 02-Mar-26 08:01:00 GMT', 60],
  ['Mon Mar  2 08:01:00 2026', 60],
  ['Mon Mar 02 08:01:00 2026', 60],
  ['Mon, 02 Mar 2026 07:00:00 GMT', 0],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 0],
  ['Wednesday, 02-Mar-77 08:00:00 GMT', 0],
  ['Tue, 03 Mar 2026 09:00:00 GMT', 86_400],
  ['Mon, 02 Mar 2026 08:01:00 UTC', undefined],
  ['Mon, 02 Mar 2026 08:01:00 +0000', undefined],
  ['Mon, 2 Mar 2026 08:01:00 GMT', undefined],
  ['Mon, 31 Feb 2026 08:01:00 GMT', undefined],
  ['Mon, 00 Mar 2026 08:01:00 GMT', undefined],
  ['Mon, 02 Mar 2026 24:01:00 GMT', undefined],
  ['Mon, 02 Mar 2026 08:61:00 GMT', undefined],
  ['2026-03-02T08:01:00Z', undefined],
  ['Sat, 28 Feb 2026 23:59:60 GMT', 0],
]

for (const [value, expected] of CASES) {
  test(`[EVT-08] Retry-After ${JSON.stringify(value)} asks for ${expected ?? 'nothing'}`, () => {
    assert.equal(retryAfterSeconds(value, NOW), expected)
  })
}

test('[EVT-08] every IMF-fixdate within a day is parsed to the second', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 86_400 }), (seconds) => {
      const date = new Date(Date.parse(NOW) + seconds * 1_000).toUTCString()
      return retryAfterSeconds(date, NOW) === seconds
    }),
  )
})

test('[EVT-08] no value yields a negative delay or one above 24 hours', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const seconds = retryAfterSeconds(text, NOW)
      return seconds === undefined || (seconds >= 0 && seconds <= 86_400)
    }),
  )
})
