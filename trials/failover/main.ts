/** `npm run test:failover`: the exchange on a replicated PostgreSQL, under load, while its parts are killed. */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { until } from '@agent-exchange/testkit'
import { summarize } from '../shared/ledger.ts'
import { startCluster, type Cluster } from './cluster.ts'
import { FAULTS } from './faults.ts'
import { checkLedger, checkLog, checkWebhooks } from './final-checks.ts'
import { outageOf, outageTable, type Outage } from './outage.ts'
import { findPrograms, versionsOf, type Programs } from './programs.ts'
import { startScene, type Scene } from './scene.ts'
import { timedLines } from '../shared/timed-lines.ts'

const HELP = `Kills parts of a replicated database under load; exits 1 if an acknowledged package is lost or duplicated.
Needs patroni, etcd, haproxy, pgbouncer and PostgreSQL; without one of them it is skipped.

  npm run test:failover                four rounds of each fault
  npm run test:failover -- --quick     one round
  npm run test:failover -- --only etcd faults whose name contains this text`

const ROUNDS = { full: 4, quick: 1 }
/** Successful answers of each API process that show that the fault is over. */
const STEADY_ANSWERS = 20
const STEADY_LIMIT_MS = 120_000
/** Clients send without pauses for this time before a fault. */
const RUSH_MS = 1_000
/** The columns of the table, in the order of the scene. */
const APIS = ['API over all hosts', 'API through PgBouncer']

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
const line = timedLines()

// A signal alone would not run the exit handlers, which end the child processes.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const programs = await findPrograms()
if (options.help) console.log(HELP)
else if ('why' in programs) console.log(`skipped: ${programs.why}`)
else process.exit(await passes(programs))

async function passes(found: Programs): Promise<0 | 1> {
  for (const version of versionsOf(found)) line(version)
  await using cluster = await startCluster(found, line)
  let scene: Scene | undefined
  try {
    await using made = await startScene(cluster)
    scene = made
    line(`${made.parties.length} organizations, 64 clients, two API processes, one worker`)
    await run(cluster, made)
    line('✔ passed')
    return 0
  } catch (error) {
    console.log(cluster.tails())
    console.log(scene?.logged() ?? '')
    console.log(error)
    line('✖ FAILED')
    return 1
  }
}

async function run(cluster: Cluster, scene: Scene): Promise<void> {
  const { clients } = scene
  const wanted = Object.entries(FAULTS).filter(([name]) => name.includes(options.only))
  const rounds = options.quick ? ROUNDS.quick : ROUNDS.full
  const outages: Outage[] = []
  await steady(scene, performance.now())
  for (let round = 0; round < rounds; round++) {
    for (const [name, strike] of wanted) {
      const calmDown = clients.rush()
      await sleep(RUSH_MS)
      const [from, before] = [performance.now(), clients.failures().length]
      const striking = strike(cluster)
      calmDown()
      await Promise.race([striking, clients.failed])
      await steady(scene, performance.now())
      const window = { from, to: performance.now(), retried: clients.failures().length - before }
      const outage = outageOf(name, clients.answers, window)
      outages.push(outage)
      line(
        `${outages.length}/${rounds * wanted.length} ${name}: no service for ${outage.anySeconds.toFixed(1)} s, ` +
          `each API process ${outage.eachSeconds.map((each) => each.toFixed(1)).join(' and ')} s; ` +
          `${outage.retried} requests retried`,
      )
      await cluster.patroni.untilHealthy()
    }
  }
  await clients.stop()
  line(`failed requests, all retried: ${summarize(clients.ledger)}`)
  line(`packages accepted by a request that got no answer: ${clients.inDoubt()}`)
  for (const text of await checkLedger(scene.exchange, clients.ledger, scene.parties)) line(text)
  line(await checkWebhooks(scene.exchange, scene.receiver, scene.receiving))
  line(await checkLog(scene.exchange, scene.checkpoints))
  assert.ok(outages.length > 0)
  if (!options.quick && options.only === '')
    assert.ok(clients.inDoubt() > 0, 'no fault met a commit under way')
  console.log(`\n${outageTable(outages, APIS).join('\n')}\n`)
}

/** Both API processes answer again. */
async function steady({ clients }: Scene, from: number): Promise<void> {
  const counts = () => clients.answers.map((times) => times.filter((time) => time > from).length)
  const isSteady = () => counts().every((count) => count >= STEADY_ANSWERS)
  const waiting = until('both API processes answer', isSteady, { limitMs: STEADY_LIMIT_MS })
  await Promise.race([waiting, clients.failed]).catch((error: unknown) => {
    throw new Error(`answers by API process: ${counts().join(', ')}`, { cause: error })
  })
}
