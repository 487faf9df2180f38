/** `npm run trial -- steady`: a bounded load while simulated days pass, with short retention. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createProfile } from '@agent-exchange/protocol'
import { deliveryWorld, startDurableServer } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { platformIdentity } from '../../packages/service/src/features/agents/platform-identity.ts'
import { randomId } from '../../packages/service/src/kernel/ids.ts'
import { openPlatformKeys } from '../../packages/service/src/platform-keys/platform-keys.ts'
import { checkArrivals, checkFlat, checkGone, checkLatency, checkUsage } from './steady-checks.ts'
import { awaitArrivals, maintain, runDay, type Day, type SteadyScene } from './steady-day.ts'
import { plotDays } from './steady-plot.ts'

const HELP = `Sends packages at a steady rate while simulated days pass; exits 1 if expired data stays, its
size grows, packages are accepted more and more slowly, or webhooks do not arrive.

  npm run trial -- steady                              three minutes
  npm run trial -- steady -- --minutes 60              the whole hour
    --rate N          packages per second (default 10)
    --day-seconds N   length of a simulated day (default 6)
    --plot FILE       where to write the SVG plot (default steady.svg in the folder for temporary files)`

const RETENTION = {
  idempotency_days: 1,
  notification_days: 2,
  content_days_after_expiry: 1,
  delivery_days: 2,
}

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '3' },
    rate: { type: 'string', default: '10' },
    'day-seconds': { type: 'string', default: '6' },
    plot: { type: 'string', default: join(tmpdir(), 'steady.svg') },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (options.help) console.log(HELP)
else process.exitCode = (await passes()) ? 0 : 1

async function passes(): Promise<boolean> {
  const [minutes, rate, daySeconds] = [options.minutes, options.rate, options['day-seconds']].map(Number)
  if (!minutes || !rate || !daySeconds || minutes < 0 || rate < 0 || daySeconds < 0) {
    console.error(HELP)
    return false
  }
  await using cleanup = new AsyncDisposableStack()
  const scene = await openScene(cleanup)
  const days: Day[] = []
  const count = Math.max(1, Math.round((minutes * 60) / daySeconds))
  console.log(`${count} days of ${daySeconds} s, ${rate} packages per second, fsync on`)
  console.log('  day   sent  arrived  p50 ms  p99 ms  stolen  limited MB  evidence MB  partitions  dropped')
  for (let number = 1; number <= count; number++) {
    const day = await runDay(scene, { number, rate, seconds: daySeconds })
    days.push(day)
    console.log(lineOf(day))
  }
  const sent = days.reduce((total, day) => total + day.sent, 0)
  await awaitArrivals(scene, sent)
  writeFileSync(options.plot, plotDays(days))
  console.log(`plot: ${options.plot}`)
  const now = scene.exchange.world.clock.now()
  await maintain(scene, now)
  const checks = [
    checkFlat(days),
    checkLatency(days),
    checkArrivals(sent, scene.arrived.size),
    await checkGone(scene, days, now),
    await checkUsage(scene),
  ]
  for (const { passes: isGood, text } of checks) console.log(`${isGood ? '✔' : '✖'} ${text}`)
  return checks.every((check) => check.passes)
}

/** A world on a server of its own, whose commits wait for the disk. */
async function openScene(cleanup: AsyncDisposableStack): Promise<SteadyScene> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'aex-steady-'))
  cleanup.defer(() => rmSync(dataDirectory, { recursive: true, force: true }))
  cleanup.use(await startDurableServer(dataDirectory))
  const overrides = { 'O-18': RETENTION }
  const created = createProfile(overrides)
  if (!created.ok) throw new Error('the profile of the trial is invalid')
  const exchange = cleanup.use(await deliveryWorld({ profile: overrides }))
  await exchange.endpoint()
  const db = openDatabase({
    target: exchange.world.databaseUrl,
    maximumConnections: 4,
    applicationName: 'steady',
  })
  cleanup.defer(() => db.end())
  const { clock, masterKey } = exchange.world
  const { webhook } = await openPlatformKeys({
    db,
    masterKeys: () => ({ current: masterKey }),
    profile: created.profile,
    clock,
    newId: randomId,
    identity: platformIdentity,
  })
  return { exchange, db, profile: created.profile, webhookKeys: webhook, sent: [], arrived: new Set() }
}

function lineOf({
  number,
  sent,
  arrived,
  p50,
  p99,
  stolen,
  limitedBytes,
  evidenceBytes,
  partitions,
  dropped,
}: Day): string {
  const cells: [string | number, number][] = [
    [number, 5],
    [sent, 7],
    [arrived, 9],
    [p50.toFixed(1), 8],
    [p99.toFixed(1), 8],
    [`${(stolen * 100).toFixed(0)}%`, 8],
    [(limitedBytes / 1e6).toFixed(1), 12],
    [(evidenceBytes / 1e6).toFixed(1), 13],
    [partitions, 12],
    [dropped, 9],
  ]
  return cells.map(([cell, width]) => String(cell).padStart(width)).join('')
}
