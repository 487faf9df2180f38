import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INITIAL_RAMP, MAXIMUM_RAMP, MINIMUM_CLAIM_SHARE, RAMP_SLOT_MS } from './webhook-limits.ts'
import { createConcurrencyRamp } from './concurrency-ramp.ts'

/** A ramp whose requests are numbers, each ended by the test. */
function manualRamp() {
  const begun: number[] = []
  const endings = new Map<number, () => void>()
  const load = { isBusy: false }
  let calls = 0
  const ramp = createConcurrencyRamp<number>(
    (item) => {
      begun.push(item)
      const { promise, resolve } = Promise.withResolvers<void>()
      endings.set(item, resolve)
      return promise
    },
    { isBusy: () => load.isBusy, onRoom: () => calls++ },
  )
  const end = async (item: number) => {
    endings.get(item)?.()
    endings.delete(item)
    await new Promise(setImmediate)
  }
  let next = 0
  /** Claims as much as the ramp permits. */
  const fill = () => {
    const items = Array.from({ length: ramp.room() }, () => next++)
    ramp.add(items)
    return items.length
  }
  return { ramp, begun, load, end, fill, underWay: () => endings.size, calls: () => calls }
}

test('[O-44] claimed requests start at once, and no more are claimed than can start', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { ramp, begun, fill } = manualRamp()
  assert.equal(fill(), INITIAL_RAMP)
  assert.equal(begun.length, INITIAL_RAMP)
  assert.equal(ramp.room(), 0)
})

test('the limit grows by one with each finished request, up to the maximum', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { begun, end, fill, underWay, calls } = manualRamp()
  fill()
  for (let item = 0; item < 4 * MAXIMUM_RAMP; item++) {
    await end(item)
    fill()
    assert.ok(underWay() <= Math.min(INITIAL_RAMP + item + 1, MAXIMUM_RAMP))
  }
  assert.ok(underWay() > MAXIMUM_RAMP * (1 - MINIMUM_CLAIM_SHARE))
  assert.equal(calls(), 4 * MAXIMUM_RAMP, 'each finished request may free capacity')
  assert.ok(begun.length > 4 * MAXIMUM_RAMP)
})

test('nothing is claimed until a minimum share of the slots is free', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { ramp, end, fill } = manualRamp()
  fill()
  let ended = 0
  for (; ramp.room() === 0; ended++) await end(ended)
  const limit = INITIAL_RAMP + ended
  assert.ok(ramp.room() >= limit * MINIMUM_CLAIM_SHARE && ramp.room() < limit / 2, String(ramp.room()))
})

test('a slow request frees its slot, so hanging receivers do not block the others', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { begun, fill } = manualRamp()
  fill()
  t.mock.timers.tick(RAMP_SLOT_MS - 1)
  assert.equal(fill(), 0)
  t.mock.timers.tick(1)
  assert.equal(fill(), 2 * INITIAL_RAMP)
  assert.equal(begun.length, 3 * INITIAL_RAMP)
})

test('a slow request keeps its slot while the process itself is busy', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { load, fill } = manualRamp()
  load.isBusy = true
  fill()
  for (let passed = 0; passed < 10; passed++) t.mock.timers.tick(RAMP_SLOT_MS)
  assert.equal(fill(), 0)
  load.isBusy = false
  t.mock.timers.tick(RAMP_SLOT_MS)
  assert.equal(fill(), 2 * INITIAL_RAMP)
})
