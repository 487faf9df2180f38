import { tableOf, type Area, type AreaContext, type AreaResult } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { sendToArrival } from '../end-to-end/send-to-arrival.ts'
import { endpointsOf, provision, type DeliveringExchange, type Rig } from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { startLoad } from '../load/load.ts'
import { LEAST_MINUTES, MINUTE, plotMinutes, ratiosOf, type Minute } from './minutes.ts'
import { KEPT_SECONDS, SHORTEST, startRetention, type Retention } from './retention.ts'

/** Whether speed, latency, memory and disk stay as they are under full load. */
export const steadyArea: Area = {
  name: 'steady',
  what: 'full load of 64 clients for --minutes with retention on: speed, p99, memory and disk by minute',
  isLong: true,
  run,
}

const MINUTES = 30
const FULL = { stepMs: 60_000, packages: 3_000 }
const QUICK = { stepMs: 5_000, packages: 500 }
const MOST_PACKAGES = 60_000
const STEP_LIMIT_MS = 120_000
const RECEIVERS = new Map([[1, 16]])
const MEGABYTE = 1_048_576

async function run({ quick, minutes = MINUTES, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  progress('starting PostgreSQL, a receiver and organizations')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, endpointsOf(RECEIVERS))
  const rig: Rig = { load: cleanup.use(startLoad()), receiver, postgres: bed.postgres }
  const options = { name: 'steady', senders: CLIENTS, receivers: RECEIVERS }
  const start = await provision(bed, rig, cleanup, options)
  const profile = bed.file('steady-profile.json', JSON.stringify({ 'O-18': SHORTEST }))
  const exchange = cleanup.use(await start('together', 'steady', { AEX_PROFILE: profile }))
  const database = bed.postgres.asSuperuser(exchange.exchange.database)
  const retention = cleanup.use(startRetention(database))
  const plan = quick ? QUICK : FULL
  const end = performance.now() + (quick ? QUICK.stepMs * LEAST_MINUTES : minutes * 60_000)
  const measured: Minute[] = []
  for (let { packages } = plan; measured.length < LEAST_MINUTES || performance.now() < end;) {
    const began = performance.now()
    const minute = await measureMinute(rig, exchange, { packages, retention, database })
    measured.push(minute)
    progress(
      `${Math.round(minute.perSecond)} packages/s, p99 ${minute.p99Ms.toFixed(1)} ms, ` +
        `${Math.round(minute.megabytes)} MB, ${minute.removed} rows removed, database ${Math.round(minute.databaseMegabytes)} MB, ` +
        `${Math.max(0, (end - performance.now()) / 60_000).toFixed(1)} minutes left`,
    )
    const next = (packages * plan.stepMs) / (performance.now() - began)
    packages = Math.max(plan.packages, Math.min(MOST_PACKAGES, Math.round(next)))
  }
  return {
    tables: [
      tableOf(
        'Full load by minute, API and worker in one process',
        MINUTE,
        measured.map((minute, i) => ({ id: `steady_${i + 1}`, label: `minute ${i + 1}`, list: [minute] })),
      ),
    ],
    ratios: ratiosOf(measured),
    notes: [
      `${CLIENTS} clients send packages of 12 KB as fast as they get responses, and one webhook is delivered for each. Before ` +
        'the packages of a minute, their policy receipts are sent, which takes about half of it.',
      `Retention runs without a pause beside the load and removes what is older than ${KEPT_SECONDS} seconds: requests for exact ` +
        'retries, notifications, deliveries, sealed content. Evidence stays. The ratios are medians of a sixth of the run: the last sixth to ' +
        'the second one. 30 minutes at 1,000 packages a second need 40 GB of free disk.',
    ],
    plot: { name: 'steady', svg: plotMinutes(measured) },
  }
}

async function measureMinute(
  rig: Rig,
  exchange: DeliveringExchange,
  { packages, retention, database }: { packages: number; retention: Retention; database: DatabaseTarget },
): Promise<Minute> {
  const span = { fanOut: 1, rampMs: 0, measureMs: STEP_LIMIT_MS }
  const before = retention.removed()
  const measured = await sendToArrival(rig, exchange, { ...span, packages })
  return {
    perSecond: measured.packagesPerSecond,
    p50Ms: measured.answerP50Ms,
    p99Ms: measured.answerP99Ms,
    megabytes: measured.megabytes,
    databaseMegabytes: await sizeOf(database),
    removed: retention.removed() - before,
  }
}

async function sizeOf(database: DatabaseTarget): Promise<number> {
  await using db = open(database, 1)
  const [row] = await db<{ bytes: number }[]>`
    select pg_database_size(current_database())::float8 as bytes`
  return (row?.bytes ?? Number.NaN) / MEGABYTE
}
