import { createHash, randomBytes } from 'node:crypto'
import { type Database, openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { readServiceMigrations } from '@agent-exchange/service/migrations'
import { startTestServer } from './test-server.ts'

/** An arbitrary lock id: one process at a time creates the template. */
const TEMPLATE_LOCK = 7_204_118

export interface TestDatabase extends AsyncDisposable {
  /** URL of an empty, fully migrated database. */
  readonly url: string
}

/**
 * A database for one test file, cloned from a template that is migrated once per server. TESTKIT_POSTGRES names the
 * server and is set by `npm test`; a single test file starts its own server.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await testServerUrl()
  // The strategy file_copy avoids writing every page to the WAL.
  return databaseFrom(server, `${await templateOn(server)} strategy file_copy`)
}

/** The same, with a pool. */
export async function openTestDatabase(
  maximumConnections = 8,
): Promise<TestDatabase & { readonly db: Database }> {
  const database = await testDatabase()
  const db = openDatabase({ target: database.url, maximumConnections, applicationName: 'test' })
  return {
    url: database.url,
    db,
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A database without tables, for tests of migrations. */
export async function emptyTestDatabase(): Promise<TestDatabase> {
  return databaseFrom(await testServerUrl(), 'template0')
}

async function databaseFrom(server: string, template: string): Promise<TestDatabase> {
  const name = `aex_test_${randomBytes(8).toString('hex')}`
  await administer(server, (sql) => sql.unsafe(`create database ${name} template ${template}`))
  return {
    url: databaseOn(server, name),
    [Symbol.asyncDispose]: () =>
      administer(server, (sql) => sql.unsafe(`drop database ${name} with (force)`)),
  }
}

let ownServer: Promise<string> | undefined

/** The server of this run. A server that was started here stops with this process. */
export function testServerUrl(): Promise<string> {
  const given = process.env['TESTKIT_POSTGRES']
  if (given) return Promise.resolve(given)
  ownServer ??= startTestServer().then(({ url, abandon }) => {
    process.once('exit', abandon)
    return url
  })
  return ownServer
}

const templates = new Map<string, Promise<string>>()

function templateOn(server: string): Promise<string> {
  const made = templates.get(server) ?? ensureTemplate(server)
  templates.set(server, made)
  return made
}

async function ensureTemplate(server: string): Promise<string> {
  const migrations = readServiceMigrations()
  const content = migrations.map(({ checksum }) => checksum).join()
  const name = `aex_template_${createHash('sha256').update(content).digest('hex').slice(0, 16)}`
  await administer(server, async (sql) => {
    await sql`select pg_advisory_lock(${TEMPLATE_LOCK})`
    const [existing] = await sql`select 1 from pg_database where datname = ${name} and datistemplate`
    if (existing) return
    await sql.unsafe(`drop database if exists ${name} with (force)`)
    await sql.unsafe(`create database ${name}`)
    const fresh = openDatabase({
      target: databaseOn(server, name),
      maximumConnections: 1,
      applicationName: 'test template',
    })
    await migrate(fresh, migrations)
    // Each start of a service would make the partitions of the next days.
    const { makePartitions } = await import('@agent-exchange/service')
    await makePartitions(fresh, new Date().toISOString())
    await fresh.end()
    // The first connection after the migrations writes the cache of the catalog, which every clone then has.
    await administer(databaseOn(server, name), (first) => first`select`)
    await sql.unsafe(`alter database ${name} is_template true`)
  })
  return name
}

async function administer(server: string, work: (sql: Database) => Promise<unknown>): Promise<void> {
  const sql = openDatabase({ target: server, maximumConnections: 1, applicationName: 'test setup' })
  try {
    // Another process may hold the lock until it has created the template.
    await sql`set statement_timeout = 0`
    await work(sql)
  } finally {
    await sql.end()
  }
}

function databaseOn(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
