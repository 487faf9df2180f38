import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import pg from 'pg'
import { openDatabase } from './database.ts'
import { endsSession, isUnavailable, sqlState } from './database-errors.ts'

const database = await openTestDatabase(4)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`create table locked (id integer primary key)`
await db`insert into locked values (1), (2)`

test('a deadlock passes: the request may succeed in a moment', async () => {
  const bothHold = Promise.withResolvers<void>()
  let holding = 0
  const lockInOrder = (first: number, second: number) =>
    db.begin(async (tx) => {
      await tx`select from locked where id = ${first} for update`
      if ((holding += 1) === 2) bothHold.resolve()
      await bothHold.promise
      await tx`select from locked where id = ${second} for update`
    })
  const ended = await Promise.allSettled([lockInOrder(1, 2), lockInOrder(2, 1)])
  const failures = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  assert.deepEqual(failures.map(sqlState), ['40P01'])
  assert.ok(failures.every(isUnavailable))
})

test('a server that cannot take all connections at once is away, whatever code the system has for it', async () => {
  const socketDirectory = mkdtempSync(join(tmpdir(), 'aex-backlog-'))
  const server = createServer((socket) => socket.destroy())
  server.listen({ path: join(socketDirectory, '.s.PGSQL.5432'), backlog: 1 })
  await once(server, 'listening')
  const target = { socketDirectory, port: 5432, user: 'test', password: 'test', database: 'test' }
  const crowded = openDatabase({ target, maximumConnections: 32, applicationName: 'test' })
  // All in one turn, so that the server accepts none in between.
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => crowded`select 1`))
  const reasons = answers.map((each) => (each.status === 'rejected' ? (each.reason as unknown) : undefined))
  assert.ok(reasons.map(sqlState).includes('EAGAIN'))
  assert.ok(reasons.every(isUnavailable))
  await crowded.end()
  server.close()
  rmSync(socketDirectory, { recursive: true })
})

test('an error of the server that ends the session is a loss of the connection, whatever its code', () => {
  const raised = (severity: string) =>
    Object.assign(new pg.DatabaseError('failed', 0, 'error'), { severity, code: 'XX000' })
  for (const severity of ['FATAL', 'PANIC'])
    assert.deepEqual([endsSession(raised(severity)), isUnavailable(raised(severity))], [true, true])
  assert.deepEqual([endsSession(raised('ERROR')), isUnavailable(raised('ERROR'))], [false, false])
})
