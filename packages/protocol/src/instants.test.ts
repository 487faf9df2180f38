import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareInstants, dateOfInstant, isEarlier, parseInstant } from './instants.ts'

test('[OBJ-19] RFC 3339 times are parsed, including offsets and fractions', () => {
  assert.deepEqual(parseInstant('1970-01-01T00:00:00Z'), { seconds: 0, fraction: '' })
  assert.deepEqual(parseInstant('1970-01-01T01:00:00.500+01:00'), { seconds: 0, fraction: '5' })
  assert.deepEqual(parseInstant('1969-12-31t23:59:59z'), { seconds: -1, fraction: '' })
  // The examples of RFC 3339 section 5.8.
  assert.equal(compare('1996-12-19T16:39:57-08:00', '1996-12-20T00:39:57Z'), 0)
  assert.equal(compare('1990-12-31T23:59:60Z', '1990-12-31T15:59:60-08:00'), 0)
  assert.equal(compare('1937-01-01T12:00:27.87+00:20', '1937-01-01T11:40:27.870Z'), 0)
})

test('[OBJ-19] text that is not an RFC 3339 time is refused', () => {
  for (const text of [
    '',
    '2026-03-02',
    '2026-03-02T08:00:00',
    '2026-03-02 08:00:00Z',
    '2026-3-2T08:00:00Z',
    '2026-03-02T08:00Z',
    '2026-03-02T08:00:00.Z',
    '2026-03-02T24:00:00Z',
    '2026-03-02T08:60:00Z',
    '2026-13-01T08:00:00Z',
    '2026-00-01T08:00:00Z',
    '2026-04-31T08:00:00Z',
    '2025-02-29T08:00:00Z',
    '1900-02-29T08:00:00Z',
    '2026-03-02T08:00:00+24:00',
    '2026-03-02T08:00:00+01:60',
    '2026-03-02T12:30:60Z',
    '2026-03-02T23:59:60+01:00',
    '2026-03-02T08:00:00Z\n',
    '٢٠٢٦-03-02T08:00:00Z',
  ]) {
    assert.equal(parseInstant(text), undefined, text)
  }
  assert.ok(parseInstant('2024-02-29T00:00:00Z') && parseInstant('0001-01-01T00:00:00Z'))
})

test('[OBJ-13] times are compared as instants, to the last digit', () => {
  assert.ok(isEarlier('2026-03-02T10:00:00+02:00', '2026-03-02T08:00:00.000000001Z'))
  assert.equal(isEarlier('2026-03-02T08:00:00.10Z', '2026-03-02T08:00:00.1Z'), false)
  assert.equal(isEarlier('2026-03-02T08:00:00.09Z', '2026-03-02T08:00:00.1Z'), true)
  assert.equal(isEarlier('nonsense', '2026-03-02T08:00:00Z'), undefined)
  assert.equal(isEarlier(7, '2026-03-02T08:00:00Z'), undefined)
})

test('[OBJ-19] agrees with Date where milliseconds are sufficient', () => {
  const date = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(date, date, (a, b) => {
      assert.equal(compare(a.toISOString(), b.toISOString()), Math.sign(a.getTime() - b.getTime()))
    }),
  )
})

function compare(a: string, b: string): number {
  const [first, second] = [parseInstant(a), parseInstant(b)]
  assert.ok(first && second, `${a} ${b}`)
  return Math.sign(compareInstants(first, second))
}

test('[OBJ-13] every time that the protocol accepts has a Date, leap seconds and wide offsets too', () => {
  const shown = (text: string) => dateOfInstant(text)?.toISOString()
  assert.equal(shown('2026-12-31T23:59:60Z'), '2027-01-01T00:00:00.000Z')
  assert.equal(shown('2026-03-04T12:00:00.0459+23:59'), '2026-03-03T12:01:00.045Z')
  assert.equal(shown('2026-03-04t12:00:00z'), '2026-03-04T12:00:00.000Z')
  assert.equal(shown('2026-02-30T00:00:00Z'), undefined)
  assert.equal(shown('18 November 2026'), undefined)
})
