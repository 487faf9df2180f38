import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'

const database = await testDatabase()
const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})

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
