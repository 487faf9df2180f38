import assert from 'node:assert/strict'
import { test } from 'node:test'
import { simulate, type Costs, type Deployment } from './model.ts'
import { exponential, seeded } from './random.ts'
import { Cores, Flusher, Turnstile } from './resources.ts'
import { Timeline } from './timeline.ts'

const COSTS: Costs = {
  loopMs: 0.25,
  signatureMs: 0.2,
  databaseMs: 0.25,
  clientMs: 0.05,
  flushMs: 1,
  roundTripMs: 0.2,
}
const ONE: Deployment = { replicas: 1, shards: 1, coresPerReplica: 2, coresPerShard: 8 }
const LOAD = { seed: 1, packages: 4_000, clientsPerReplica: 64 }
/** Packages enough that the first and the last ones do not matter. */
const most = (deployment: Partial<Deployment>) =>
  simulate(COSTS, { ...ONE, ...deployment }, { ...LOAD, packages: 4_000 * (deployment.replicas ?? 1) })
    .perSecond

test('time passes in order, and what is asked for first happens first', () => {
  const timeline = new Timeline()
  const seen: string[] = []
  for (const [at, name] of [
    [5, 'c'],
    [1, 'a'],
    [5, 'd'],
    [2, 'b'],
  ] as const) {
    timeline.after(at, () => seen.push(`${name}${timeline.now}`))
  }
  timeline.run()
  assert.deepEqual(seen, ['a1', 'b2', 'c5', 'd5'])
})

test('two cores do the work of three in turns, and count it', () => {
  const timeline = new Timeline()
  const cores = new Cores(timeline, 2)
  const ends: number[] = []
  for (let i = 0; i < 3; i++) cores.use(4, () => ends.push(timeline.now))
  timeline.run()
  assert.equal(cores.busyMs, 12)
  assert.ok(Math.abs(Math.max(...ends) - 6) <= 0.5, `shared fairly, they end together: ${ends.join(', ')}`)
})

test('a turnstile lets one through at a time', () => {
  const timeline = new Timeline()
  const turnstile = new Turnstile()
  const ends: number[] = []
  for (let i = 0; i < 3; i++) {
    turnstile.enter((leave) =>
      timeline.after(2, () => {
        ends.push(timeline.now)
        leave()
      }),
    )
  }
  timeline.run()
  assert.deepEqual(ends, [2, 4, 6])
})

test('who comes during a flush shares the next one', () => {
  const timeline = new Timeline()
  const log = new Flusher(timeline, 10)
  const ends: number[] = []
  for (const at of [0, 1, 2, 11]) timeline.after(at, () => log.flush(() => ends.push(timeline.now)))
  timeline.run()
  assert.deepEqual(ends, [10, 20, 20, 30])
})

test('the same seed gives the same table, another one nearly the same', () => {
  const first = simulate(COSTS, ONE, LOAD)
  assert.deepEqual(simulate(COSTS, ONE, LOAD), first)
  const other = simulate(COSTS, ONE, { ...LOAD, seed: 2 }).perSecond
  assert.ok(Math.abs(other / first.perSecond - 1) < 0.1)
})

test('nothing is faster than its busiest part allows', () => {
  // Answers come in batches, so the count may be off by one of them.
  assert.ok(most({}) <= (1.02 * 1_000) / (COSTS.loopMs + COSTS.signatureMs), 'one event loop')
  assert.ok(most({ replicas: 32 }) <= (1.02 * 8 * 1_000) / COSTS.databaseMs, 'eight cores of one database')
})

test('replicas help until the database is busy, then shards do', () => {
  assert.ok(most({ replicas: 2 }) > 1.8 * most({}))
  assert.ok(most({ replicas: 32 }) < 1.2 * most({ replicas: 16 }))
  assert.ok(most({ replicas: 32, shards: 4 }) > 2 * most({ replicas: 32 }))
})

test('one receiving organization holds up a large deployment', () => {
  assert.ok(most({ replicas: 16, hotShare: 1 }) < 0.5 * most({ replicas: 16 }))
})

test('random numbers lie between 0 and 1, and arrivals have the wanted mean', () => {
  const random = seeded(7)
  const values = Array.from({ length: 5_000 }, random)
  assert.ok(values.every((value) => value >= 0 && value < 1))
  const waits = Array.from({ length: 20_000 }, () => exponential(random, 4))
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length
  assert.ok(Math.abs(mean - 0.25) < 0.01, String(mean))
})
