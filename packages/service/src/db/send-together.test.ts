import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Transaction, type Write } from './database.ts'
import { sendTogether } from './send-together.ts'

const database = await testDatabase()
const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})
const TABLES = ['one', 'two', 'three']
for (const table of TABLES) await db`create table ${db(table)} (value text not null)`

const write = (tx: Transaction, table: string, value: string | null) =>
  tx`insert into ${tx(table)} values (${value})`
const send = (make: (tx: Transaction) => (Write | undefined)[]) =>
  db.begin(async (tx) => sendTogether(tx as Transaction, make(tx as Transaction)))
const counts = async () =>
  Promise.all(TABLES.map(async (table) => (await db`select from ${db(table)}`).length))

test('several writes, one alone and none at all: what there is is written', async () => {
  await send((tx) => TABLES.map((table) => write(tx, table, 'a')))
  assert.deepEqual(await counts(), [1, 1, 1])
  await send((tx) => [undefined, write(tx, 'two', 'b'), undefined])
  assert.deepEqual(await counts(), [1, 2, 1])
  await send(() => [undefined])
  assert.deepEqual(await counts(), [1, 2, 1])
})

test('it is one statement: all of them see the same moment', async () => {
  await send((tx) => [
    tx`insert into one select 'seen ' || count(*) from two`,
    write(tx, 'two', 'c'),
    tx`insert into three select 'seen ' || count(*) from two`,
  ])
  const [one] = await db<{ value: string }[]>`select value from one where value like 'seen%'`
  const [three] = await db<{ value: string }[]>`select value from three where value like 'seen%'`
  assert.deepEqual([one?.value, three?.value], ['seen 2', 'seen 2'])
})

test('where one of them fails, nothing is written', async () => {
  const before = await counts()
  await assert.rejects(send((tx) => [write(tx, 'one', 'd'), write(tx, 'two', null), write(tx, 'three', 'd')]))
  assert.deepEqual(await counts(), before)
})
