import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { holdLock } from './session-lock.ts'

const NUMBER = '4711'

const database = await testDatabase()
const open = (applicationName: string) =>
  openDatabase({ target: database.url, maximumConnections: 1, applicationName })
const [holder, follower, observer] = [open('holder'), open('follower'), open('observer')]
after(async () => {
  await Promise.all([follower.end(), observer.end()])
  await database[Symbol.asyncDispose]()
})

const taken = (db: typeof holder) =>
  new Promise<void>((resolve) => holdLock(db, NUMBER, (isHeld) => isHeld && resolve()))

test('a process that waits for a lock keeps no snapshot, and takes the lock when it is free', async () => {
  await taken(holder)
  const isTaken = taken(follower)
  // A waiting statement is active and has a snapshot until it ends.
  const isIdle = async () => {
    const [session] = await observer<{ xmin: string | null }[]>`
      select backend_xmin::text as xmin from pg_stat_activity
      where application_name = 'follower' and state = 'idle' and query like '%pg_try_advisory_lock%'`
    return session?.xmin === null
  }
  while (!(await isIdle())) await sleep(5)
  const [waiting] = await observer<{ count: number }[]>`
    select count(*)::integer as count from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`
  assert.equal(waiting?.count, 0)
  await holder.end()
  await isTaken
})
