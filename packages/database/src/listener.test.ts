import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase, until } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'

const database = await testDatabase()
const open = (applicationName: string) =>
  openDatabase({ target: database.url, maximumConnections: 2, applicationName })
const db = open('speaker')
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})

test('a listener whose connection was killed listens again, says so, and hears what comes then', async () => {
  const listener = open('listener')
  const heard: string[] = []
  let begun = 0
  await listener.listen(
    'channel',
    (payload) => void heard.push(payload),
    () => (begun += 1),
  )
  await db`select pg_notify('channel', 'first')`
  await until('the first notification', () => heard.length > 0)
  await db`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`
  await until('the listener listens again', () => begun > 1)
  await db`select pg_notify('channel', 'second')`
  await until('the second notification', () => heard.length > 1)
  assert.deepEqual([begun, heard], [2, ['first', 'second']])
  await listener.end()
  const left = async () => (await db`select from pg_stat_activity where application_name = 'listener'`).length
  await until('its connection ends', async () => (await left()) === 0)
})
