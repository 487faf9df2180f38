import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { readServiceMigrations } from '@agent-exchange/service/migrations'
import { aexAt } from '../aex-here.fixture.ts'

/** Releases before 0010 ended here. */
const BASE_LEVEL = 9
const CONTRACTS = ['0011-require-code-levels-and-thumbprints.sql', '0019-evidence-version-2.sql']
const KEY = '{"crv":"P-256","kty":"EC","x":"x","y":"y"}'

/** A database of the previous release, with a client and a running process. */
async function previousRelease() {
  const database = await emptyTestDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
  await migrate(
    db,
    readServiceMigrations().filter(({ number }) => number <= BASE_LEVEL),
  )
  await db`insert into organization (organization_id, name, created_at) values ('org_a', 'A', now())`
  await db`insert into oauth_client (client_id, organization_id, authentication, public_jwk, created_at)
           values ('client_a', 'org_a', 'private_key_jwt', ${KEY}, now())`
  await db`insert into service_process (process_id, role, started_at, seen_at)
           values ('process_a', 'api', now(), now())`
  return {
    db,
    aex: (...args: string[]) =>
      aexAt({ env: { DATABASE_URL: database.url, AEX_MASTER_KEY: undefined } }, 'migrate', ...args),
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

test('aex migrate --plan shows phases, locks, backfill and whether running processes can stay, and changes nothing', async () => {
  await using previous = await previousRelease()
  const { db, aex } = previous
  const { code, stdout } = await aex('--plan')
  assert.equal(code, 0)
  assert.match(stdout, /^Database {2}0009-invitations-and-ends\.sql\nRelease {3}\d{4}-/u)
  assert.match(stdout, /^Running {3}1 api$/mu)
  assert.match(
    stdout,
    /^0010-rolling-upgrades\.sql {2}expand\n {2}runs beside releases that end at 0009 or later\n {2}locks briefly: oauth_client \(access exclusive\)/mu,
  )
  assert.match(stdout, /backfill, by running processes in steps: key thumbprints of clients/u)
  assert.match(
    stdout,
    /contract\n.*\n.*\n {2}waits until older processes have stopped \(1 api\) and until its backfill is complete/u,
  )
  assert.match(stdout, /^Running processes can stay/mu)
  const [row] = await db<{ last: number }[]>`select max(number) as last from schema_migration`
  assert.equal(row?.last, BASE_LEVEL)
})

test('aex migrate applies expand migrations beside running processes and says what the contract migration waits for', async () => {
  await using previous = await previousRelease()
  const { db, aex } = previous
  const first = await aex()
  assert.equal(first.code, 0)
  assert.match(first.stdout, /^Applied 0010-rolling-upgrades\.sql$/mu)
  assert.match(
    first.stdout,
    /^0011-.* waits until older processes have stopped \(1 api\) and until its backfill/mu,
  )
  await db`delete from service_process`
  await db`update oauth_client set key_thumbprint = 'thumbprint'`
  const second = await aex('--json')
  assert.deepEqual(JSON.parse(second.stdout), { applied: CONTRACTS })
  assert.match((await aex()).stdout, /^Nothing to apply/u)
  const plan = JSON.parse((await aex('--plan', '--json')).stdout) as Record<string, unknown>
  assert.deepEqual(plan['migrations'], [])
})

test('aex migrate fails with a sentence where there is no database, or one of a newer release', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-migrate-'))
  const missing = await aexAt({ env: { AEX_DATA_DIR: folder, DATABASE_URL: undefined } }, 'migrate')
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /^There is no database in .*AEX_DATA_DIR or DATABASE_URL/u)
  rmSync(folder, { recursive: true })
  const refused = await aexAt({ env: { DATABASE_URL: 'postgres://u@127.0.0.1:1/x' } }, 'migrate', '--plan')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /^The database of DATABASE_URL cannot be used/u)
  await using previous = await previousRelease()
  const { db, aex } = previous
  await db`insert into schema_migration (number, name, checksum) values (9999, '9999-later.sql', 'x')`
  for (const args of [[], ['--plan']]) {
    const newer = await aex(...args)
    assert.equal(newer.code, 1)
    assert.match(newer.stderr, /brought to 9999-later\.sql by a newer release.*Start the newer release/u)
  }
})
