import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { fragment, identifier, openDatabase } from './database.ts'
import { inTransaction } from './transaction.ts'

const database = await testDatabase()
const open = (parameters = '') =>
  openDatabase({ target: `${database.url}${parameters}`, maximumConnections: 2, applicationName: 'test' })
const db = open()
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})

test('values go to the server and come back as what they are', async () => {
  const [row] = await db`
    select ${'ä"\u0001'}::text as text, ${7}::integer as small, ${2 ** 53 - 1}::bigint as large, ${1.5}::float8 as real,
      ${true}::boolean as yes, ${false}::boolean as no, ${null}::text as none, ${Buffer.from([0, 255])}::bytea as bytes,
      ${['a', 'b,"c"', null]}::text[] as texts, ${'{"a":[1]}'}::json as json,
      ${'2026-03-02T08:00:00.123Z'}::timestamptz as time, ${'2026-03-02'}::date as day`
  assert.deepEqual(row, {
    text: 'ä"\u0001',
    small: 7,
    large: 2 ** 53 - 1,
    real: 1.5,
    yes: true,
    no: false,
    none: null,
    bytes: Buffer.from([0, 255]),
    texts: ['a', 'b,"c"', null],
    json: { a: [1] },
    time: '2026-03-02T08:00:00.123Z',
    day: '2026-03-02',
  })
})

test('a statement says what it did and to how many', async () => {
  const made = await db`create table counted (value integer)`
  assert.deepEqual([made.command, made.count], ['CREATE', 0])
  const inserted = await db`insert into counted select generate_series(1, 3)`
  assert.deepEqual([inserted.command, inserted.count, inserted.length], ['INSERT', 3, 0])
  const updated = await db`update counted set value = 0 where value > 1 returning value`
  assert.deepEqual([updated.command, updated.count, updated.length], ['UPDATE', 2, 2])
})

test('a value is never read as part of a statement, and a name only as a name', async () => {
  const hostile = `x'; drop table counted; --"`
  const [row] = await db`select ${hostile}::text as ${identifier(hostile)}`
  assert.deepEqual(row, { [hostile]: hostile })
})

test('a fragment may be used in several places; it is sent with the statement that contains it', async () => {
  const part = fragment`value > ${0} and value < ${10}`
  const whole = db`select ${5}::integer as five where ${fragment`5`} = ${5} and exists (
    select from counted where ${part}) = exists (select from counted where ${part})`
  assert.deepEqual([...(await whole)], [{ five: 5 }])
})

test('what cannot be sent fails by itself, and the next statement passes', async () => {
  const nothing = undefined as unknown as string
  await assert.rejects(async () => db`select ${nothing}::text`, /undefined/u)
  await assert.rejects(async () => db`select ${nothing}::text ${fragment`from counted`}`, /undefined/u)
  await assert.rejects(db.unsafe('select 1\0'), /NUL/u)
  await assert.rejects(db.unsafe('select $1::text\0', ['a']), /NUL/u)
  await assert.rejects(
    db.begin(async (tx) => tx.unsafe('select 1\0', [])),
    /NUL/u,
  )
  assert.equal((await db`select 1`).length, 1)
})

test('a number that JavaScript cannot hold fails its statement, and nothing else', async () => {
  const [large, small] = await Promise.allSettled([
    db`select 9007199254740993::bigint as number`,
    db`select 1::bigint as number`,
  ])
  assert.equal(large.status, 'rejected')
  assert.deepEqual(small.status === 'fulfilled' && [...small.value], [{ number: 1 }])
  assert.equal((await db`select 1`).length, 1)
})

test('text without values may be several statements: the answer is that of the last', async () => {
  const answer = await db.unsafe('select 1 as a; select 2 as b, null as c')
  assert.deepEqual([...answer], [{ b: 2, c: null }])
  await assert.rejects(db.unsafe('select 1; select 1 / 0'), { code: '22012' })
  assert.deepEqual([...(await db.unsafe(''))], [])
})

const PREPARED = `select count(*)::integer as count from pg_prepared_statements where statement like '%known text%'`

test('a statement is parsed once on a connection; what was made up is forgotten in time', async () => {
  const counts = await db.begin(async (tx) => {
    const ask = (index: number) => tx.unsafe(`select $1::integer -- known text ${index}`, [index])
    for (let times = 0; times < 3; times++) await ask(0)
    const [once] = await tx.unsafe<{ count: number }[]>(PREPARED)
    for (let index = 0; index < 1_000; index++) await ask(index)
    const [bounded] = await tx.unsafe<{ count: number }[]>(PREPARED)
    return [once?.count, (bounded?.count ?? 0) < 500 && (bounded?.count ?? 0) > 100]
  })
  assert.deepEqual(counts, [1, true])
})

test('with prepare=false nothing is left behind on a connection', async () => {
  const plain = open('?prepare=false')
  const rows = await plain.begin(async (tx) => {
    await tx`select ${1}::integer -- known text`
    return tx.unsafe(PREPARED)
  })
  assert.deepEqual([...rows], [{ count: 0 }])
  await plain.end()
})

test('a migration by another process does not stop statements that were prepared before it', async () => {
  await db`create table shaped (first text)`
  await db`insert into shaped values ('a')`
  const read = async () => [...(await db`select * from shaped`)]
  const readInside = () => inTransaction(db, async (tx) => [...(await tx`select * from shaped`)])
  for (const each of [read, readInside]) assert.deepEqual(await each(), [{ first: 'a' }])
  await db`alter table shaped add column second text`
  for (const each of [read, readInside]) assert.deepEqual(await each(), [{ first: 'a', second: null }])
})
