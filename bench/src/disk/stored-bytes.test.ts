import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { open } from '../exchange/postgres-server.ts'
import { partsOf } from './stored-bytes.ts'

test('every table and index has its bytes, partitions under the name of their table', async () => {
  await using database = await testDatabase()
  await using db = open(database.url, 1)
  const parts = await partsOf(db)
  const indexesOf = (table: string) => parts.filter((part) => part.table === table).map(({ index }) => index)
  assert.ok(indexesOf('package').includes(undefined), 'the rows')
  assert.ok(indexesOf('package').includes('primary key btree (package_id)'), String(indexesOf('package')))
  const names = [...new Set(parts.map(({ table }) => table))]
  assert.deepEqual(
    names.filter((name) => /\d{4}|_p\d|default$/u.test(name)),
    [],
  )
  const kinds = new Set(parts.map(({ kind }) => kind))
  assert.deepEqual(kinds, new Set(['content', 'deliveries', 'notifications', 'retries', 'evidence']))
  const every = parts.map(({ table, index }) => `${table} ${index}`)
  assert.equal(new Set(every).size, every.length)
})
