import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import type { Organization } from '@agent-exchange/testkit'
import type { Area, AreaContext, AreaResult } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { makeOrganizations } from '../exchange/parties.ts'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { cpuMeter } from '../processes/cpu.ts'
import { peakMegabytes } from '../processes/tree.ts'
import { withHeldBodies } from './held-bodies.ts'
import { needsOf, type PerPackage } from './needs.ts'
import { draftLife, live, type Life } from './package-life.ts'
import { sizingResult, type Memory } from './sizing-findings.ts'
import { readStored, readWal, type Bytes, type Kind } from './stored-bytes.ts'

/** How large a machine a number of packages a day needs. */
export const sizingArea: Area = {
  name: 'sizing',
  what: 'CPU, memory and disk of a package with all its requests, and what --per-day packages need',
  isLong: true,
  run,
}

/** Lives by purpose; the steady ones are measured at the rate of the peak. */
const FULL = { warmUp: 500, steady: 2_000, atOnce: 1_500 }
const QUICK = { warmUp: 100, steady: 400, atOnce: 300 }
const PAIRS = 8
const IN_FLIGHT = 32
const EVENT_TYPES = ['package.accepted', 'package.delivered', 'package.received']
const SETTLE_LIMIT_MS = 60_000
const SETTLE_POLL_MS = 100
/** The service collects what it received, and the kernel counts it. */
const HELD_MS = 2_000

async function run({ quick, perDay, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  progress('starting PostgreSQL, a receiver, an API process and a worker')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, 2 * PAIRS)
  const exchange = cleanup.use(await bed.exchange('sizing', { ...receiver.settings, AEX_ROLE: 'api' }))
  const worker = cleanup.use(await exchange.serve('worker', { AEX_ROLE: 'worker', AEX_WORKERS: '1' }))
  const api = exchange.service
  const organizations = await makeOrganizations(exchange.world, 'sizing', 2 * PAIRS)
  for (const [i, owner] of organizations.entries())
    await registerEndpoint(owner, `${receiver.origins[i]}/hook`)
  const superuser = bed.postgres.asSuperuser(exchange.database)
  const settled = () => untilSettled(superuser)

  progress(`${plan.warmUp} packages to warm up`)
  await inFlight(await draftLives(organizations, plan.warmUp))
  await settled()
  const rest: Memory = { api: peakMegabytes(api.pid), worker: peakMegabytes(worker.pid) }

  const lives = await draftLives(organizations, plan.steady)
  const { peakPerSecond } = needsOf(perDay, NOTHING, DEFAULT_PROFILE['O-18'])
  const before = await readStored(superuser)
  const walBefore = await readWal(superuser)
  const used = cpuMeter([[api.pid], [worker.pid], [bed.postgres.pid()]])
  progress(`${plan.steady} packages at ${peakPerSecond.toFixed(0)} a second`)
  const reached = await atRate(lives, peakPerSecond)
  await settled()
  const milliseconds = used().map((seconds) => (seconds * 1_000) / lives.length)
  const walBytes = ((await readWal(superuser)) - walBefore) / lives.length
  const after = await readStored(superuser)
  const [apiMs = 0, workerMs = 0, databaseMs = 0] = milliseconds
  const stored = difference(after.bytes, before.bytes, lives.length)
  const measured: PerPackage = { apiMs, workerMs, databaseMs, stored, walBytes }
  const each = (bytes: number) => bytes / lives.length
  const tables = [...after.tables].map(([name, bytes]) => ({
    name,
    bytes: each(bytes - (before.tables.get(name) ?? 0)),
  }))

  progress(`${plan.atOnce} packages as fast as possible`)
  const fullLoad = await inFlight(await draftLives(organizations, plan.atOnce))
  await settled()
  const loaded: Memory = { api: peakMegabytes(api.pid), worker: peakMegabytes(worker.pid) }
  progress('request bodies up to the limit of O-14')
  const held = await withHeldBodies(organizations, DEFAULT_PROFILE['O-14'], async () => {
    await sleep(HELD_MS)
    return { api: peakMegabytes(api.pid), worker: peakMegabytes(worker.pid) }
  })
  return sizingResult({
    perDay,
    measured,
    deliveries: each(after.deliveries - before.deliveries),
    indexBytes: each(after.indexBytes - before.indexBytes),
    tables,
    rates: { wanted: peakPerSecond, reached, fullLoad },
    memory: { rest, loaded, held },
  })
}

const NOTHING: PerPackage = {
  apiMs: 0,
  workerMs: 0,
  databaseMs: 0,
  walBytes: 0,
  stored: { content: 0, deliveries: 0, notifications: 0, retries: 0, evidence: 0 },
}

async function registerEndpoint(owner: Organization, url: string): Promise<void> {
  const answer = await owner.post('/v1/webhook-endpoints', { url, event_types: EVENT_TYPES })
  if (answer.status !== 201) throw new Error(answer.text)
}

/** Sealed and signed before the measurement, in pairs of organizations. */
async function draftLives(organizations: readonly Organization[], count: number): Promise<Life[]> {
  const lives: Life[] = []
  for (let i = 0; i < count; i++) {
    const pair = i % PAIRS
    const [from, to] = [organizations[pair], organizations[PAIRS + pair]]
    if (from && to) lives.push(await draftLife(from, to))
  }
  return lives
}

/** A closed loop; returns lives a second. */
async function inFlight(lives: readonly Life[]): Promise<number> {
  const started = performance.now()
  const waiting = [...lives]
  const lane = async () => {
    for (let life = waiting.shift(); life; life = waiting.shift()) await live(life)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  return (lives.length * 1_000) / (performance.now() - started)
}

/** An open loop, as far as the machine keeps up; returns lives a second. */
async function atRate(lives: readonly Life[], perSecond: number): Promise<number> {
  const started = performance.now()
  const underWay = new Set<Promise<void>>()
  for (const [i, life] of lives.entries()) {
    const wait = started + (i * 1_000) / perSecond - performance.now()
    if (wait > 0) await sleep(wait)
    while (underWay.size >= IN_FLIGHT) await Promise.race(underWay)
    const one = live(life).finally(() => underWay.delete(one))
    underWay.add(one)
  }
  await Promise.all(underWay)
  return (lives.length * 1_000) / (performance.now() - started)
}

/** Until every webhook has been delivered and every record is in the log. */
async function untilSettled(superuser: DatabaseTarget): Promise<void> {
  await using db = open(superuser, 1)
  const until = performance.now() + SETTLE_LIMIT_MS
  for (;;) {
    const [row] = await db<{ open: boolean }[]>`
      select exists (select from delivery where state = 'pending') or exists (select from log_pending) as open`
    if (!row?.open) return
    if (performance.now() > until) throw new Error('webhooks or the log are a minute behind')
    await sleep(SETTLE_POLL_MS)
  }
}

function difference(after: Bytes, before: Bytes, count: number): Bytes {
  const each = Object.keys(after).map((kind) => [kind, (after[kind as Kind] - before[kind as Kind]) / count])
  return Object.fromEntries(each) as Bytes
}
