import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'
import { CommitInDoubt, isUnavailable } from './database-errors.ts'
import { inTransaction } from './transaction.ts'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`create table noted (value text)`
await db`create sequence turns`
await db.unsafe(`
  create function end_session() returns trigger language plpgsql as
    $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
  create constraint trigger ends after insert on noted deferrable initially deferred
    for each row when (new.value = 'in doubt') execute function end_session()`)
const noted = async () => (await db<{ value: string }[]>`select value from noted`).map(({ value }) => value)

test('a statement that only reads is repeated where its connection was lost', async () => {
  // The sequence counts turns, also those that were lost.
  const [row] = await db<{ turn: number }[]>`
    select turn::integer from (select nextval('turns') as turn) as one
    where turn > 1 or pg_terminate_backend(pg_backend_pid())`
  assert.equal(row?.turn, 2)
})

test('a statement that only reads is not repeated after a timeout: the server has spent that time on it', async () => {
  const limited = openDatabase({
    target: database.url,
    maximumConnections: 2,
    applicationName: 'test',
    sessionSettings: { statement_timeout: '200' },
  })
  const turns = async () => {
    const [row] = await db<{ turns: number }[]>`select nextval('turns')::integer as turns`
    return row?.turns ?? 0
  }
  const before = await turns()
  await assert.rejects(limited`select nextval('turns'), pg_sleep(5)`, isUnavailable)
  assert.equal(await turns(), before + 2)
  await limited.end()
})

test('a statement that writes is not repeated', async () => {
  const write = db`
    insert into noted select 'once' where pg_terminate_backend(pg_backend_pid())`
  await assert.rejects(write, isUnavailable)
  assert.deepEqual(await noted(), [])
})

test('a transaction that was lost before its commit is repeated once', async () => {
  let turns = 0
  const work = (losses: number) =>
    inTransaction(db, async (tx) => {
      turns += 1
      await tx`insert into noted values (${`turn ${turns}`})`
      if (turns <= losses) await tx`select pg_terminate_backend(pg_backend_pid())`
    })
  await work(1)
  assert.deepEqual([turns, await noted()], [2, ['turn 2']])
  turns = 0
  await assert.rejects(work(2), isUnavailable)
  assert.equal(turns, 2)
  await db`delete from noted`
})

test('[API-04] a commit in doubt is not repeated', async () => {
  let turns = 0
  const work = inTransaction(db, async (tx) => {
    turns += 1
    await tx`insert into noted values ('in doubt')`
  })
  await assert.rejects(work, (error) => error instanceof CommitInDoubt && isUnavailable(error))
  assert.deepEqual([turns, await noted()], [1, []])
})

test('connections to a server that has become read-only are replaced', async () => {
  const sessions = async () =>
    (await db<{ pid: number }[]>`select pg_backend_pid() as pid`).map(({ pid }) => pid)
  const before = await sessions()
  await db.unsafe('set default_transaction_read_only = on')
  await assert.rejects(db`insert into noted values ('refused')`, { code: '25006' })
  await db`insert into noted values ('on another connection')`
  assert.notDeepEqual(await sessions(), before)
  assert.deepEqual(await noted(), ['on another connection'])
})
