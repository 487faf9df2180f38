import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'

const database = await testDatabase()
const open = (applicationName: string) =>
  openDatabase({ target: database.url, maximumConnections: 2, applicationName })
const db = open('speaker')
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})
const LIMIT_MS = 30_000

test('a listener whose connection was killed listens again, says so, and hears what comes then', async () => {
  const listener = open('listener')
  const heard: string[] = []
  let begun = 0
  await listener.listen(
    'channel',
    (payload) => void heard.push(payload),
    () => (begun += 1),
  )
  const until = performance.now() + LIMIT_MS
  await db`select pg_notify('channel', 'first')`
  while (heard.length < 1 && performance.now() < until) await sleep(20)
  await db`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`
  while (begun < 2 && performance.now() < until) await sleep(20)
  await db`select pg_notify('channel', 'second')`
  while (heard.length < 2 && performance.now() < until) await sleep(20)
  assert.deepEqual([begun, heard], [2, ['first', 'second']])
  await listener.end()
  const left = async () => (await db`select from pg_stat_activity where application_name = 'listener'`).length
  while ((await left()) > 0 && performance.now() < until) await sleep(20)
  assert.equal(await left(), 0, 'it ends with its database')
})
