import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createPoolMetrics, type PoolMetrics } from './pool-metrics.ts'
import type { Metric } from './worker-messages.ts'

/** What a worker counts and shows, without the worker. `isSilent`: asked, it does not answer. */
function joinAs(pool: PoolMetrics) {
  const registry = new Registry()
  const registers = [registry]
  const worker = {
    sent: new Counter({ name: 'sent_total', help: 'sent', labelNames: ['to'], registers }),
    seconds: new Histogram({ name: 'seconds', help: 'time', buckets: [1, 10], registers }),
    lag: new Gauge({ name: 'lag', help: 'lag', registers }),
    started: new Gauge({ name: 'started', help: 'start', aggregator: 'omit', registers }),
    isSilent: false,
    asked: 0,
    // A copy, as it comes from another process.
    answer: async () =>
      member.answer(structuredClone((await registry.getMetricsAsJSON()) as unknown as Metric[])),
    leave: () => member.leave(),
  }
  const member = pool.join(() => {
    worker.asked++
    if (!worker.isSilent) void worker.answer()
  })
  return worker
}

/** Samples by name and labels. */
async function scrape(pool: PoolMetrics): Promise<Record<string, number>> {
  const lines = (await pool.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => line.split(' ')).map(([name, value]) => [name, Number(value)]),
  )
}

test('what workers count is added up, and what they are stays apart', async () => {
  const pool = createPoolMetrics(2)
  const [one, two] = [joinAs(pool), joinAs(pool)]
  one.sent.inc({ to: 'a' }, 2)
  two.sent.inc({ to: 'a' }, 3)
  two.sent.inc({ to: 'b' })
  one.seconds.observe(0.5)
  two.seconds.observe(5)
  one.lag.set(7)
  two.lag.set(9)
  one.started.set(100)
  two.started.set(200)
  assert.deepEqual(await scrape(pool), {
    'sent_total{to="a"}': 5,
    'sent_total{to="b"}': 1,
    'seconds_bucket{le="1"}': 1,
    'seconds_bucket{le="10"}': 2,
    'seconds_bucket{le="+Inf"}': 2,
    seconds_sum: 5.5,
    seconds_count: 2,
    'lag{worker="1"}': 7,
    'lag{worker="2"}': 9,
    'started{worker="1"}': 100,
    'started{worker="2"}': 200,
    aex_workers: 2,
    aex_workers_unanswered: 0,
  })
})

test('no sum falls when workers end, and a successor takes the number', async () => {
  const pool = createPoolMetrics(2)
  const [one, two] = [joinAs(pool), joinAs(pool)]
  one.sent.inc({ to: 'a' }, 10)
  two.sent.inc({ to: 'a' }, 1)
  one.seconds.observe(5)
  await scrape(pool)
  one.leave()
  const between = await scrape(pool)
  assert.equal(between['sent_total{to="a"}'], 11)
  assert.equal(between['aex_workers_unanswered'], 1)
  assert.equal('lag{worker="1"}' in between, false)

  const third = joinAs(pool)
  third.sent.inc({ to: 'a' }, 4)
  third.lag.set(3)
  await scrape(pool)
  third.leave()
  const last = joinAs(pool)
  last.lag.set(5)
  const after = await scrape(pool)
  assert.equal(after['sent_total{to="a"}'], 15)
  assert.equal(after['seconds_bucket{le="10"}'], 1)
  assert.equal(after['lag{worker="1"}'], 5)
  assert.equal(after['aex_workers_unanswered'], 0)
})

test('a silent worker is waited for within a limit, asked once, and keeps its last count', async () => {
  const pool = createPoolMetrics(2)
  const [one, two] = [joinAs(pool), joinAs(pool)]
  one.sent.inc({ to: 'a' }, 10)
  await scrape(pool)
  one.isSilent = true
  one.sent.inc({ to: 'a' })
  two.sent.inc({ to: 'a' })
  for (const shown of await Promise.all([scrape(pool), scrape(pool)])) {
    assert.equal(shown['sent_total{to="a"}'], 11)
    assert.equal(shown['aex_workers_unanswered'], 1)
    assert.equal('lag{worker="1"}' in shown, false)
    assert.equal('lag{worker="2"}' in shown, true)
  }
  assert.equal(one.asked, 2)

  // Late is not lost.
  one.isSilent = false
  await one.answer()
  const after = await scrape(pool)
  assert.deepEqual([after['sent_total{to="a"}'], after['aex_workers_unanswered']], [12, 0])
})

test('nobody waits for a worker that ends instead of answering', async () => {
  const pool = createPoolMetrics(1)
  const one = joinAs(pool)
  one.isSilent = true
  const text = scrape(pool)
  one.leave()
  const first = await Promise.race([text, sleep(500, undefined, { ref: false })])
  assert.equal(first?.['aex_workers_unanswered'], 1)
})
