import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  emptyTestDatabase,
  startReceiver,
  until,
  type Organization,
  type WebhookReceiver,
} from '@agent-exchange/testkit'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { checkAttempts, each, checkWhole } from '../shared/ledger-checks.ts'
import { summarize } from '../shared/ledger.ts'
import { AEX } from '../shared/serve-process.ts'
import { mustRun } from '../shared/programs.ts'
import { CLIENTS, startRetryingLoad, type RetryingLoad } from './retrying-load.ts'

const ORGANIZATIONS = 8
/** Load before the first restart, between restarts and after the last one. */
const PHASE_MS = 8_000
const CONTRACT_LIMIT_MS = 60_000
const WEBHOOK_LIMIT_MS = 60_000
const POLL_MS = 250
const COMMAND_LIMIT_MS = 60_000
const CONTRACTS = ['0011-require-code-levels-and-thumbprints.sql', '0019-evidence-version-2.sql']

interface Scene {
  readonly apis: readonly [Exchange, Exchange]
  readonly worker: Exchange
  readonly receiver: WebhookReceiver
  readonly line: (text: string) => void
}

/** Upgrades two API processes and a worker one after the other, under load. Returns a summary. */
export async function upgradeUnderLoad(
  base: string,
  folder: string,
  line: (text: string) => void,
): Promise<string> {
  await using database = await emptyTestDatabase()
  await using receiver = await startReceiver()
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, receiver.authority.certificate)
  const env = { AEX_WEBHOOK_CA: ca, AEX_WEBHOOK_ALLOW_PRIVATE: 'true' }
  const api = { env: { ...env, AEX_ROLE: 'api' }, program: base }
  await using one = await startExchange({ ...api, databaseUrl: database.url })
  await using two = await startExchange({ ...api, beside: one })
  await using worker = await startExchange({
    env: { ...env, AEX_ROLE: 'worker' },
    program: base,
    beside: one,
  })
  const scene: Scene = { apis: [one, two], worker, receiver, line }
  const { senders, receivers } = await openMarket(scene)
  const pairs = senders.flatMap((from) => receivers.map((to) => [from, to] as const))
  const load = startRetryingLoad(pairs, [one.url, two.url])
  await sleep(PHASE_MS)
  await rollOver(scene, database.url)
  await sleep(PHASE_MS)
  await load.stop()
  // Awaited here, because the processes end with this scope.
  return await checkAll(scene, load, [...senders, ...receivers])
}

async function openMarket({ apis: [one], receiver, line }: Scene) {
  const make = async (name: string) => {
    const made: Organization[] = []
    const names = Array.from({ length: ORGANIZATIONS }, () => name)
    await each(names, async () => void made.push(await one.organization(name)))
    return made
  }
  const [senders, receivers] = [await make('sender'), await make('receiver')]
  for (const [number, organization] of receivers.entries()) {
    const body = { url: `${receiver.url}/${number}`, event_types: [] }
    const answer = await organization.post('/v1/webhook-endpoints', body)
    assert.equal(answer.status, 201, answer.text)
  }
  line(
    `2 API processes and a worker of the base release; ${CLIENTS} clients, ${receivers.length} webhook endpoints`,
  )
  return { senders, receivers }
}

async function rollOver(scene: Scene, databaseUrl: string): Promise<void> {
  const { apis, worker, line } = scene
  const [one, two] = apis
  await checkPlan(databaseUrl, line)
  await replace(one, 'first API process', line)
  assert.equal(await contracted(one), 0, 'contract migrations must wait for the base release')
  await sleep(PHASE_MS)
  await replace(worker, 'worker', line)
  assert.equal(await contracted(one), 0, 'contract migrations must wait for the base release')
  await sleep(PHASE_MS)
  await replace(two, 'second API process', line)
  const started = performance.now()
  await until(
    'the contract migrations are applied',
    async () => (await contracted(one)) === CONTRACTS.length,
    { limitMs: CONTRACT_LIMIT_MS, pollMs: POLL_MS },
  )
  const [row] = await one.sql<{ clients: number }[]>`
    select count(*)::int as clients from oauth_client where key_thumbprint is not null`
  assert.ok((row?.clients ?? 0) >= 2 * ORGANIZATIONS)
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  line(`backfill of ${row?.clients} clients and contract migrations, ${seconds} s after the last replacement`)
}

async function checkPlan(databaseUrl: string, line: (text: string) => void): Promise<void> {
  const env = { DATABASE_URL: databaseUrl, NO_COLOR: '1' }
  const options = { cwd: '/', env, limitMs: COMMAND_LIMIT_MS }
  const plan = JSON.parse(await mustRun(process.execPath, [AEX, 'migrate', '--plan', '--json'], options)) as {
    migrations: { name: string; phase: string }[]
    running_processes_can_stay: boolean
    processes: unknown[]
  }
  assert.equal(plan.processes.length, 3)
  assert.ok(plan.running_processes_can_stay, JSON.stringify(plan.migrations))
  assert.ok(plan.migrations.some(({ phase }) => phase === 'expand'))
  const contracts = plan.migrations.filter(({ phase }) => phase === 'contract')
  for (const name of CONTRACTS)
    assert.ok(
      contracts.some((migration) => migration.name === name),
      name,
    )
  const phases = plan.migrations.map(({ name, phase }) => `${name.slice(0, 4)} ${phase}`)
  line(`aex migrate --plan: ${phases.join(', ')}; running processes can stay`)
}

/** Stops a process as an operator does and starts the working tree in its place. */
async function replace(exchange: Exchange, what: string, line: (text: string) => void): Promise<void> {
  const started = performance.now()
  exchange.current().kill('SIGTERM')
  assert.equal(await exchange.current().end(), 0, exchange.current().messages.join('\n'))
  await exchange.start({}, AEX)
  line(`${what} replaced in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}

async function contracted({ sql }: Exchange): Promise<number> {
  const rows = await sql`select from schema_migration where name = any(${CONTRACTS})`
  return rows.length
}

async function checkAll(scene: Scene, load: RetryingLoad, parties: readonly Organization[]): Promise<string> {
  const { apis, receiver, line } = scene
  const { ledger, failed } = load
  assert.deepEqual(
    failed.map(({ failures }) => failures),
    [],
    'packages without a response after all retries',
  )
  line(`${ledger.length} packages sent; requests that were retried: ${summarize(ledger)}`)
  await untilDelivered(scene, ledger.length)
  const announced = new Set(receiver.received.map(({ body }) => packageOf(body)))
  for (const { draft } of ledger) assert.ok(announced.has(draft.metadata.package_id), 'a webhook was lost')
  await checkAttempts(ledger)
  const { streams, entries } = await checkWhole(apis[0], ledger, parties)
  await checkVersions(scene)
  line(
    `${streams} gapless streams, ${entries} evidence entries in unbroken chains, ${announced.size} webhooks`,
  )
  return `${ledger.length} packages: 0 failed, 0 lost, 0 doubled`
}

/** Evidence of version 2 begins after the contract migration; what was accepted before keeps its version. */
async function checkVersions({ apis: [one], line }: Scene): Promise<void> {
  const [row] = await one.sql<{ first: number; second: number; late: number }[]>`
    select count(*) filter (where chain_position is null)::int as first, count(chain_position)::int as second,
      count(*) filter (where chain_position is null and accepted_at > since + interval '30 seconds')::int as late
    from package, (select min(accepted_at) as since from package where chain_position is not null) as flip`
  assert.ok(row && row.first > 0 && row.second > 0, JSON.stringify(row))
  assert.equal(row.late, 0, 'a process still accepts packages of version 1')
  line(`evidence of version 1 for ${row.first} packages, of version 2 for ${row.second}`)
}

async function untilDelivered({ apis: [one], line }: Scene, packages: number): Promise<void> {
  const count = async () => {
    const [row] = await one.sql<{ pending: number; delivered: number }[]>`
      select count(*) filter (where state = 'pending')::int as pending,
        count(*) filter (where state = 'delivered')::int as delivered from delivery`
    return row?.pending === 0 && row
  }
  const { delivered } = await until('no delivery is pending', count, {
    limitMs: WEBHOOK_LIMIT_MS,
    pollMs: POLL_MS,
  })
  assert.equal(delivered, packages, 'each package has one delivery')
  line(`${delivered} deliveries, none pending`)
}

function packageOf(body: Buffer): string {
  return String((JSON.parse(body.toString()) as { package_id?: unknown }).package_id)
}
