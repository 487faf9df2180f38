import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FIRST_YOUNG, MAXIMUM_YOUNG, SMALLEST_CLAIM_SHARE, YOUNG_MS } from './limits.ts'
import { createStarts } from './starts.ts'

/** Numbers as work, each ended by hand. */
function paced() {
  const begun: number[] = []
  const endings = new Map<number, () => void>()
  const load = { isBusy: false }
  let calls = 0
  const starts = createStarts<number>(
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
  /** Claims whatever there is room for. */
  const fill = () => {
    const items = Array.from({ length: starts.room() }, () => next++)
    starts.add(items)
    return items.length
  }
  return { starts, begun, load, end, fill, underWay: () => endings.size, calls: () => calls }
}

test('[O-44] what is claimed begins at once, and no more is claimed than can begin', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun, fill } = paced()
  assert.equal(fill(), FIRST_YOUNG)
  assert.equal(begun.length, FIRST_YOUNG)
  assert.equal(starts.room(), 0)
})

test('one more may begin with each that ends, up to the most', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { begun, end, fill, underWay, calls } = paced()
  fill()
  for (let item = 0; item < 4 * MAXIMUM_YOUNG; item++) {
    await end(item)
    fill()
    assert.ok(underWay() <= Math.min(FIRST_YOUNG + item + 1, MAXIMUM_YOUNG))
  }
  assert.ok(underWay() > MAXIMUM_YOUNG * (1 - SMALLEST_CLAIM_SHARE))
  assert.equal(calls(), 4 * MAXIMUM_YOUNG, 'each that ends may make room')
  assert.ok(begun.length > 4 * MAXIMUM_YOUNG)
})

test('claims are not made for a few: there is room when a share of the places is free', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, end, fill } = paced()
  fill()
  let ended = 0
  for (; starts.room() === 0; ended++) await end(ended)
  const limit = FIRST_YOUNG + ended
  assert.ok(starts.room() >= limit * SMALLEST_CLAIM_SHARE && starts.room() < limit / 2, String(starts.room()))
})

test('what takes its time holds no place: work goes on beside receivers that hang', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { begun, fill } = paced()
  fill()
  t.mock.timers.tick(YOUNG_MS - 1)
  assert.equal(fill(), 0)
  t.mock.timers.tick(1)
  assert.equal(fill(), 2 * FIRST_YOUNG)
  assert.equal(begun.length, 3 * FIRST_YOUNG)
})

test('what takes long while the process itself is busy keeps its place until it is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { load, fill } = paced()
  load.isBusy = true
  fill()
  for (let passed = 0; passed < 10; passed++) t.mock.timers.tick(YOUNG_MS)
  assert.equal(fill(), 0)
  load.isBusy = false
  t.mock.timers.tick(YOUNG_MS)
  assert.equal(fill(), 2 * FIRST_YOUNG)
})
