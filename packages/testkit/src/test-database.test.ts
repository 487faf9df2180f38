import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { testDatabase } from './test-database.ts'

const tablesOf = async (url: string) => {
  const db = openDatabase({ target: url, maximumConnections: 1, applicationName: 'test' })
  const rows = await db`select tablename from pg_tables where schemaname = 'public' order by 1`
  await db.end()
  return rows.map(({ tablename }) => String(tablename))
}

test('each test database has the complete schema and is dropped after its test', async () => {
  const urls: string[] = []
  {
    await using first = await testDatabase()
    await using second = await testDatabase()
    assert.notEqual(first.url, second.url)
    assert.ok((await tablesOf(first.url)).includes('package'))
    urls.push(first.url, second.url)
  }
  for (const url of urls) await assert.rejects(tablesOf(url), /does not exist/u)
})
