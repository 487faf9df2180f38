import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { readGatewayMigrations } from '@agent-exchange/gateway'
import { exampleObjects } from '@agent-exchange/protocol'
import { openContentStore } from '../../packages/gateway/src/content/open-content-store.ts'
import { createSecretBox } from '../../packages/gateway/src/stores/secret-box.ts'
import { ROOT } from '../../tools/repository/repository-files.ts'
import { findInstalledPostgres, startInstalledPostgres } from '../shared/installed-postgres.ts'

const LIMIT_MS = 60_000
const installed = await findInstalledPostgres()
const reader = { kind: 'person', id: 'auditor', purpose: 'after a restore' } as const

const open = (target: string) =>
  openDatabase({ target, maximumConnections: 2, applicationName: 'backup trial' })
const boxOf = (number: number) => createSecretBox(() => ({ current: new Uint8Array(32).fill(number) }))
const contentsOf = (db: ReturnType<typeof open>, masterKey: number) =>
  openContentStore({ db, box: boxOf(masterKey), clock: { now: () => new Date().toISOString() } })

test(
  'the backup of docs/gateway.md restores a gateway that opens its content with the master key, and with no other',
  { skip: installed === undefined && 'there is no PostgreSQL installed here', timeout: 3 * LIMIT_MS },
  async (t) => {
    assert.ok(installed)
    await using server = await startInstalledPostgres(installed)
    const urlOf = (database: string) => server.url.replace(/postgres$/u, database)
    const superuser = open(server.url)
    for (const name of ['gateway', 'restored']) await superuser.unsafe(`create database ${name}`, [])
    await superuser.end()
    const folder = mkdtempSync(join(tmpdir(), 'aex-gateway-backup-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))

    const before = open(urlOf('gateway'))
    await migrate(before, readGatewayMigrations())
    await before`
      insert into gateway_agent (agent_id, organization_id, base_url, client_id, added_at)
      values ('agent_planner', 'org_planning', 'https://exchange.example', 'client_1', now())`
    const object = exampleObjects.reasoning_package
    const content = { agentId: 'agent_planner', packageId: 'pkg_1', threadId: 'thread_1', object }
    const stored = { ...content, direction: 'received', provenance: {} } as const
    await before.begin((tx) => contentsOf(before, 1).put(tx, stored))
    await contentsOf(before, 1).read(reader, 'agent_planner', 'pkg_1')

    const page = readFileSync(join(ROOT, 'docs/gateway.md'), 'utf8')
    const [, commands = ''] = /```sh\n(pg_dump .*?)```/su.exec(page) ?? []
    assert.match(commands, /pg_restore/u)
    execFileSync('sh', ['-euc', commands], {
      cwd: folder,
      timeout: LIMIT_MS,
      env: {
        PATH: `${installed.bin}:/usr/bin:/bin`,
        AEX_GATEWAY_DATABASE_URL: urlOf('gateway'),
        RESTORED_DATABASE_URL: urlOf('restored'),
      },
    })
    await before.end()

    const after = open(urlOf('restored'))
    assert.deepEqual((await migrate(after, readGatewayMigrations())).applied, [])
    const read = await contentsOf(after, 1).read(reader, 'agent_planner', 'pkg_1')
    assert.ok(read !== undefined && read !== 'gone')
    assert.deepEqual(read.object, object)
    await assert.rejects(contentsOf(after, 2).read(reader, 'agent_planner', 'pkg_1'))
    assert.equal((await after`select number from access_record`).length, 2)
    await assert.rejects(after`delete from access_record`)
    await after.end()
  },
)
