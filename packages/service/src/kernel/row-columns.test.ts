import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { openTestDatabase } from '@agent-exchange/testkit'
import { columnsOf } from './row-columns.ts'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

interface Row {
  readonly a: string
  readonly b: string | null
  readonly n: number
}

async function throughTheServer(rows: readonly Row[]): Promise<Row[]> {
  const column = columnsOf(rows)
  return db<Row[]>`
    select a, nullif(b, '') as b, n::int as n
    from (select ${column.separator}::text as mark) as sent, unnest(
      string_to_array(${column('a')}, mark), string_to_array(${column('b')}, mark),
      string_to_array(${column('n')}, mark)) as row (a, b, n)`
}

// What PostgreSQL keeps: anything but a null character; what a column can tell apart: anything but an empty text.
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('\u001f', '\u001e', "'", '"', '\\', ','),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
    ),
  })
  .map((value) => value.replaceAll('\0', '') || 'x')
const row = fc.record(
  { a: text, b: fc.option(text), n: fc.integer({ min: -1_000, max: 1_000 }) },
  { noNullPrototype: true },
)

test('rows come out of their columns as they went in, whatever their texts hold', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 8 }), async (rows) => {
      assert.deepEqual([...(await throughTheServer(rows))], rows)
    }),
    { numRuns: 200 },
  )
})

test('a text that holds the separator brings another one into use', () => {
  assert.equal(columnsOf([{ a: 'x' }]).separator, '\u001f')
  assert.notEqual(columnsOf([{ a: 'x\u001fy' }]).separator, '\u001f')
})

test('an empty text is refused: it would come out as null', () => {
  assert.throws(() => columnsOf([{ a: '' }])('a'), /empty text/)
})
