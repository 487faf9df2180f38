import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Database } from './database.ts'
import { isUnavailable } from './database-errors.ts'

const database = await testDatabase()
const open = (limits: { maximumWaiting?: number; waitLimitMs?: number }) =>
  openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test', ...limits })
after(() => database[Symbol.asyncDispose]())

const KINDS: Record<string, (db: Database, seconds?: number) => Promise<unknown>> = {
  statement: (db, seconds = 0.3) => db`select pg_sleep(${seconds})`,
  transaction: (db, seconds = 0.3) => db.begin((tx) => tx`select pg_sleep(${seconds})`),
}

const unavailable = (code: string) => (error: unknown) =>
  isUnavailable(error) && error instanceof Error && 'code' in error && error.code === code

for (const [kind, run] of Object.entries(KINDS)) {
  test(`a ${kind} that finds the queue for a connection full is refused at once`, async () => {
    const db = open({ maximumWaiting: 2 })
    await run(db)
    const [running, ...waiting] = [run(db), run(db), run(db)]
    const refused = assert.rejects(run(db), unavailable('POOL_QUEUE_FULL')).then(() => 'refused')
    assert.equal(await Promise.race([running, refused]), 'refused')
    await Promise.all([running, ...waiting])
    await run(db)
    await db.end()
  })

  test(`a ${kind} that waits too long for a connection is refused`, async () => {
    const db = open({ waitLimitMs: 1_000 })
    const running = run(db, 3)
    await assert.rejects(run(db), unavailable('POOL_TIMEOUT'))
    await running
    await run(db)
    await db.end()
  })

  test(`a ${kind} under way is finished before the pool ends, and none begins afterwards`, async () => {
    const db = open({})
    const running = [run(db), run(db)]
    await db.end()
    await Promise.all(running)
    await assert.rejects(run(db), unavailable('CONNECTION_ENDED'))
  })

  test(`a ${kind} that does not finish in time is cut off when the pool ends, and so is one that waits`, async () => {
    const db = open({})
    const failed = [run(db, 20), run(db, 20)].map((each) => assert.rejects(each, isUnavailable))
    const started = performance.now()
    await db.end({ timeout: 0.1 })
    await Promise.all(failed)
    assert.ok(performance.now() - started < 5_000)
  })
}

test('a caller that gave up waiting leaves its place to the next one', async () => {
  const db = open({ waitLimitMs: 200, maximumWaiting: 1 })
  const running = db`select pg_sleep(1)`
  await assert.rejects(db`select 1`, unavailable('POOL_TIMEOUT'))
  await assert.rejects(db`select 1`, unavailable('POOL_TIMEOUT'))
  await running
  for (let times = 0; times < 3; times++) assert.equal((await db`select 1`).length, 1)
  await db.end()
})
