import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'
import type { AreaContext } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { registerEndpoints } from '../exchange/delivering-exchange.ts'
import { makeOrganizations } from '../exchange/parties.ts'
import { untilSettled } from '../exchange/until-settled.ts'
import { cpuMeter } from '../processes/cpu.ts'
import { draftLife, live, type Life } from './package-life.ts'
import { readStored, readWal, type StoredPart } from './stored-bytes.ts'

/** Of one package with all its requests and webhooks. */
export interface MeasuredLives {
  readonly apiMs: number
  readonly workerMs: number
  readonly databaseMs: number
  readonly walBytes: number
  /** By table and index. */
  readonly stored: readonly StoredPart[]
  /** Packages a second that this machine reached. */
  readonly reached: number
}

export interface LivesPlan {
  /** Each measured area has its own database. */
  readonly name: string
  readonly warmUp: number
  readonly packages: number
  /** By default as fast as possible. */
  readonly perSecond?: number
}

const PAIRS = 8
const IN_FLIGHT = 32
const EVENT_TYPES = ['package.accepted', 'package.delivered', 'package.received']

/** Sends packages through all their requests, and delivers three webhooks to each of both organizations. */
export async function measureLives(
  { progress, bed: startBed }: AreaContext,
  { name, warmUp, packages, perSecond = Infinity }: LivesPlan,
): Promise<MeasuredLives> {
  progress('starting PostgreSQL, a receiver, an API process and a worker')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, 2 * PAIRS)
  const exchange = cleanup.use(await bed.exchange(name, { ...receiver.settings, AEX_ROLE: 'api' }))
  const settings = { ...receiver.settings, AEX_ROLE: 'worker', AEX_WORKERS: '1' }
  const worker = cleanup.use(await exchange.serve('worker', settings))
  const organizations = await makeOrganizations(exchange.world, name, 2 * PAIRS)
  for (const [i, owner] of organizations.entries())
    await registerEndpoints(owner, [`${receiver.origins[i]}/hook`], EVENT_TYPES)
  const superuser = bed.postgres.asSuperuser(exchange.database)
  progress(`${warmUp} packages to warm up`)
  await atRate(await draftLives(organizations, warmUp), Infinity)
  await untilSettled(superuser)
  const lives = await draftLives(organizations, packages)
  const before = await readStored(superuser)
  const walBefore = await readWal(superuser)
  const used = cpuMeter([[exchange.service.pid], [worker.pid], [bed.postgres.pid()]])
  progress(`${packages} packages with all their requests`)
  const reached = await atRate(lives, perSecond)
  await untilSettled(superuser)
  const [apiMs = 0, workerMs = 0, databaseMs = 0] = used().map((seconds) => (seconds * 1_000) / packages)
  const walBytes = ((await readWal(superuser)) - walBefore) / packages
  const after = await readStored(superuser)
  const earlier = new Map(before.map((part) => [`${part.table} ${part.index}`, part.bytes]))
  const stored = after.map((part) => ({
    ...part,
    bytes: (part.bytes - (earlier.get(`${part.table} ${part.index}`) ?? 0)) / packages,
  }))
  return { apiMs, workerMs, databaseMs, walBytes, stored, reached }
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
