import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'
import { readReplication, replicationOf } from './replication.ts'

const settings = { standbys: 1, synchronous_standby_names: 'node2', synchronous_commit: 'on' }

test('a commit waits for a standby only if one is named and synchronous_commit waits for it', () => {
  assert.equal(replicationOf(settings), 'synchronous')
  assert.equal(replicationOf({ ...settings, synchronous_standby_names: '' }), 'asynchronous')
  for (const synchronous_commit of ['off', 'local'])
    assert.equal(replicationOf({ ...settings, synchronous_commit }), 'asynchronous')
  assert.equal(replicationOf({ ...settings, standbys: 0, synchronous_standby_names: '' }), 'none')
})

test('a server without standbys does not replicate', async () => {
  await using database = await testDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  assert.equal(await readReplication(db), 'none')
  await db.end()
})
