import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { openTestDatabase } from '@agent-exchange/testkit'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

// What PostgreSQL keeps: anything but a null character.
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('"', '\\', ',', '{', '}', ' ', '\n'),
      fc.string({ unit: 'grapheme', maxLength: 2 }),
    ),
  })
  .map((value) => value.replaceAll('\0', ''))
const item = fc.oneof(text, fc.constantFrom(null, 'null', 'NULL', '', '{}'))

test('a list of texts comes back from the server as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 6 }), async (items) => {
      const [row] = await db<{ same: string[]; texts: string[] }[]>`
        select ${items}::text[] as same, array(select unnest(${items}::text[])) as texts`
      assert.deepEqual(row?.same, items)
      assert.deepEqual(row?.texts, items)
    }),
    { numRuns: 200 },
  )
})

test('a time is read as ISO 8601 in UTC, cut to milliseconds', async () => {
  const instant = fc.date({
    noInvalidDate: true,
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59Z'),
  })
  await fc.assert(
    fc.asyncProperty(instant, fc.nat(999), async (date, microseconds) => {
      const [row] = await db<{ time: string }[]>`
        select ${date.toISOString()}::timestamptz + make_interval(secs => ${microseconds}::float8 / 1000000) as time`
      assert.equal(row?.time, date.toISOString())
    }),
    { numRuns: 200 },
  )
})

test('a time of another zone is read in UTC too; one that no ISO 8601 text names fails its statement', async () => {
  const [row] = await db.begin(async (tx) => {
    await tx`set local timezone = 'Asia/Kolkata'`
    return tx<{ time: string }[]>`select '2026-03-02T08:00:00.5Z'::timestamptz as time`
  })
  assert.equal(row?.time, '2026-03-02T08:00:00.500Z')
  await assert.rejects(db`select 'infinity'::timestamptz as time`)
  assert.equal((await db`select now()`).length, 1)
})
