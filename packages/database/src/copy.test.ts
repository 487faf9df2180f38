import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { deferToCommit } from './transaction.ts'
import { column, copyTarget } from './copy.ts'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`create table copied (key bigint primary key, text text, number integer, time timestamptz, bytes bytea,
  texts text[])`

const COPIED = copyTarget<{
  readonly key: number
  readonly text: string | null
  readonly number: number
  readonly time: string
  readonly bytes: Uint8Array
  readonly texts: readonly string[]
}>('copied', {
  key: column.bigint,
  text: column.text,
  number: column.integer,
  time: column.timestamptz,
  bytes: column.bytea,
  texts: column.textArray,
})

const row = (key: number) => ({
  key,
  text: `text ${key}`,
  number: -key,
  time: '2026-03-02T08:00:00.123Z',
  bytes: Buffer.from([key % 256, 0]),
  texts: ['a', 'ö'],
})
const keys = async () =>
  (await db<{ key: number }[]>`select key from copied order by key`).map(({ key }) => key)

test('rows arrive as they were, whatever is in them', async () => {
  const odd = [
    row(1),
    { ...row(2), text: null, texts: [] },
    { ...row(2 ** 53 - 1), text: '', time: '9999-12-31T23:59:59.999Z', number: -(2 ** 31) },
    { ...row(-5), text: '\\N\t\n"\u{1F600}', time: '1969-12-31T23:59:59.999Z' },
  ]
  await db.begin(async (tx) => tx.copy(COPIED, odd))
  const stored =
    await db`select * from copied order by array_position(${odd.map(({ key }) => String(key))}, key::text)`
  assert.deepEqual([...stored], odd)
  await db`delete from copied`
})

test('none, and more than one message holds', async () => {
  await db.begin(async (tx) => tx.copy(COPIED, []))
  const long = 'x'.repeat(50_000)
  const many = Array.from({ length: 40 }, (_, key) => ({ ...row(key), text: long }))
  await db.begin(async (tx) => {
    // What is sent before it and behind it goes on as if nothing had happened.
    const [first, , last] = await Promise.all([
      tx<{ count: number }[]>`select count(*)::integer as count from copied`,
      tx.copy(COPIED, many),
      tx<{ count: number }[]>`select count(*)::integer as count from copied`,
    ])
    assert.deepEqual([first[0]?.count, last[0]?.count], [0, many.length])
  })
  assert.equal((await keys()).length, many.length)
  await db`delete from copied`
})

test('a copy that the server refuses fails the transaction with its own error; the connection is as good as before', async () => {
  await db.begin(async (tx) => tx.copy(COPIED, [row(1)]))
  const work = db.begin(async (tx) => {
    deferToCommit(tx, tx`insert into copied (key) values (7)`, tx.copy(COPIED, [row(2), row(1)]))
    deferToCommit(tx, tx.copy(COPIED, [row(3)]))
  })
  await assert.rejects(work, { code: '23505', table: 'copied' })
  assert.deepEqual(await keys(), [1])
  await db.begin(async (tx) => tx.copy(COPIED, [row(2)]))
  assert.deepEqual(await keys(), [1, 2])
  await db`delete from copied`
})

test('rows that cannot be written are not sent, and nothing of their transaction is kept', async () => {
  const work = db.begin(async (tx) => {
    deferToCommit(tx, tx`insert into copied (key) values (7)`)
    deferToCommit(tx, tx.copy(COPIED, [row(1), { ...row(2), time: 'yesterday' }]))
  })
  await assert.rejects(work, RangeError)
  assert.deepEqual(await keys(), [])
  await db.begin(async (tx) => tx.copy(COPIED, [row(1)]))
  assert.deepEqual(await keys(), [1])
})

test('a copy whose rows throw half way is never followed by a commit', async () => {
  await db`delete from copied`
  for (const isDeferred of [true, false]) {
    const rows = [row(1), row(2), Object.defineProperty({ ...row(3) }, 'text', { get: () => raise() })]
    const work = db.begin(async (tx) => {
      // Sent and answered before: only a rollback can undo it.
      await tx`insert into copied (key) values (7)`
      if (isDeferred) deferToCommit(tx, tx.copy(COPIED, rows))
      else await tx.copy(COPIED, rows).catch(() => undefined)
      await tx`insert into copied (key) values (8)`.catch(() => undefined)
    })
    await assert.rejects(work, /the source of the rows failed/u)
    assert.deepEqual(await keys(), [])
  }
})

function raise(): never {
  throw new Error('the source of the rows failed')
}

test('a number that does not fit its column is refused, not cut', async () => {
  for (const number of [2 ** 31, 1.5, Number.NaN])
    await assert.rejects(
      db.begin((tx) => tx.copy(COPIED, [{ ...row(1), number }])),
      RangeError,
    )
  assert.deepEqual(await keys(), [])
})
