import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lease, LeaseRequest } from './rate-bucket-store.ts'
import { Problem } from '../kernel/problem.ts'
import { createLeasedBuckets } from './leased-buckets.ts'

const RATE = 10
const BURST = 80

/** A common bucket in memory, with a clock that only the test moves. */
function commonBucket() {
  let now = 1_000
  let [tokens, filledAt] = [BURST, now]
  const requests: LeaseRequest[] = []
  const clock = { now: () => '2026-03-02T08:00:00.000Z', monotonicMilliseconds: () => now }
  const state = { isAway: false }
  const lease = async (request: LeaseRequest): Promise<Lease> => {
    requests.push(request)
    await Promise.resolve()
    if (state.isAway) throw new Error('the database is away')
    tokens = Math.min(BURST, tokens + ((now - filledAt) / 1_000) * RATE)
    filledAt = now
    const granted = Math.min(request.wanted, Math.floor(tokens))
    tokens -= granted
    return { granted, left: tokens }
  }
  const process = (slice = 5) =>
    createLeasedBuckets({ rate: RATE, burst: BURST, clock, slice, processes: 2, lease })
  return { clock, requests, state, process, pass: (milliseconds: number) => void (now += milliseconds) }
}

type Limit = ReturnType<typeof createLeasedBuckets>

/** Whether the request was admitted. */
async function admits(limit: Limit): Promise<boolean> {
  try {
    await limit.take('org_a')
    return true
  } catch (error) {
    assert.ok(error instanceof Problem && error.code === 'rate_limited')
    return false
  }
}

async function admitted(limits: readonly Limit[], requests: number): Promise<number> {
  let count = 0
  for (let request = 0; request < requests; request++) {
    const limit = limits[request % limits.length]
    if (limit && (await admits(limit))) count += 1
  }
  return count
}

test('[O-13] requests that are spread over processes get one burst in all, and few of them ask the database', async () => {
  const common = commonBucket()
  const limits = [common.process(), common.process()]
  assert.equal(await admitted(limits, 1_000), BURST)
  assert.ok(common.requests.length <= BURST / 2, `${common.requests.length} leases`)
  common.pass(1_000)
  assert.equal(await admitted(limits, 1_000), RATE)
})

test('[O-13] after a pause, the processes exceed the burst by no more than the slices that they held', async () => {
  const common = commonBucket()
  const limits = [common.process(), common.process()]
  await admitted(limits, 4)
  common.pass(60_000)
  const count = await admitted(limits, 1_000)
  assert.ok(count >= BURST && count <= BURST + 2 * 5, `${count} admitted`)
})

test('[O-13] concurrent requests share leases', async () => {
  const common = commonBucket()
  const limit = common.process()
  const results = await Promise.all(Array.from({ length: 200 }, () => admits(limit)))
  assert.equal(results.filter(Boolean).length, BURST)
  assert.ok(common.requests.length <= 6, `${common.requests.length} leases`)
})

test('[O-13] while the database is away, each process uses its share of the limit', async () => {
  const common = commonBucket()
  common.state.isAway = true
  const limits = [common.process(), common.process()]
  assert.equal(await admitted(limits, 1_000), BURST)
  assert.equal(common.requests.length, 2, 'one failed lease per process')
  common.pass(1_000)
  assert.equal(await admitted(limits, 1_000), RATE)
})

test('[O-13] an organization at its limit does not ask the database for each request', async () => {
  const common = commonBucket()
  const limit = common.process()
  await admitted([limit], 1_000)
  const before = common.requests.length
  for (let millisecond = 0; millisecond < 1_000; millisecond++) {
    common.pass(1)
    await admits(limit)
  }
  assert.ok(common.requests.length - before <= RATE + 2, `${common.requests.length - before} leases`)
})

test('[O-13] the cost of a large request is owed, and the next lease pays it', async () => {
  const common = commonBucket()
  const limit = common.process()
  assert.equal(await admits(limit), true)
  limit.charge('org_a', 40)
  // One request and 40 tokens are gone.
  assert.equal(await admitted([limit], 1_000), BURST - 41)
  limit.charge('org_a', 20)
  common.pass(1_000)
  assert.equal(await admitted([limit], 100), 0)
  common.pass(2_000)
  assert.ok((await admitted([limit], 100)) > 0)
})
