import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld, openTestDatabase } from '@agent-exchange/testkit'
import { systemClock as clock } from '@agent-exchange/server/clock'
import type { Config } from '../config/index.ts'
import { ensureFirstOperator } from './first-operator.ts'
import { authenticateOperator } from './operator-token.ts'

const database = await openTestDatabase()
const { db } = database
const folder = await mkdtemp(join(tmpdir(), 'aex-operator-'))
after(async () => {
  await rm(folder, { recursive: true })
  await database[Symbol.asyncDispose]()
})

test('if the token file cannot be written, no operator is created', async () => {
  await writeFile(join(folder, 'a-file'), '')
  await assert.rejects(ensureFirstOperator(db, join(folder, 'a-file', 'operator-token'), { clock }))
  assert.equal((await db`select 1 from operator`).length, 0)
})

test('of many concurrent first starts one creates the operator, and only its owner can read the token file', async () => {
  const file = join(folder, 'data', 'operator-token')
  const results = await Promise.all(Array.from({ length: 8 }, () => ensureFirstOperator(db, file, { clock })))
  assert.equal(results.filter(({ created }) => created).length, 1)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const token = (await readFile(file, 'utf8')).trim()
  const operator = await authenticateOperator(db, `Bearer ${token}`)
  assert.deepEqual(operator, { name: 'admin', role: 'administrator' })
  assert.deepEqual(await ensureFirstOperator(db, file, { clock }), { created: false })
  assert.equal((await readFile(file, 'utf8')).trim(), token)
  assert.deepEqual(await readdir(join(folder, 'data')), ['operator-token'])
  assert.equal((await db`select 1 from operator_log where action = 'operator.create'`).length, 1)
})

test('a process whose data directory is temporary leaves the first operator to another one', async () => {
  await using world = await startWorld()
  await world.sql`delete from operator`
  const operators = async () => (await world.sql`select 1 from operator`).length
  await using processes = new AsyncDisposableStack()
  const start = async (config: Partial<Config>) => processes.use(await startWorld({ beside: world, config }))
  await start({ role: 'api', createsFirstOperator: false })
  assert.equal(await operators(), 0)
  await start({ role: 'worker' })
  assert.equal(await operators(), 1)
})
