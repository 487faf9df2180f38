import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CLAIMED_AHEAD, CLAIMED_ROWS, FIRST_YOUNG, MAXIMUM_YOUNG, YOUNG_MS } from './limits.ts'
import { createStarts } from './starts.ts'

/** Numbers as work, each ended by hand; each in a lane of its own unless told otherwise. */
function paced(laneOf: (item: number) => string = String) {
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
    { laneOf, isBusy: () => load.isBusy, onRoom: () => calls++ },
  )
  const end = async (item: number) => {
    endings.get(item)?.()
    endings.delete(item)
    await new Promise(setImmediate)
  }
  return { starts, begun, load, end, underWay: () => endings.size, calls: () => calls }
}
const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

test('few are begun at first, in their order, and one more with each that ends, up to the most', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun, end, underWay } = paced()
  starts.add(numbers(400))
  assert.deepEqual(begun, numbers(FIRST_YOUNG))
  for (let item = 0; item < 200; item++) {
    await end(item)
    assert.equal(underWay(), Math.min(FIRST_YOUNG + item + 1, MAXIMUM_YOUNG))
  }
  assert.deepEqual(begun, numbers(begun.length))
})

test('a lane with nothing under way goes first, so that no second connection is opened; alone it may have several', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const isOfLongLane = (item: number) => item < 50
  const { starts, begun, end } = paced((item) => (isOfLongLane(item) ? 'long' : String(item)))
  starts.add(numbers(50 + FIRST_YOUNG))
  assert.deepEqual(begun.filter(isOfLongLane), [0])
  await end(0)
  assert.deepEqual(begun.filter(isOfLongLane), [0, 1], 'all others have begun by now')
  await end(50)
  assert.deepEqual(begun.filter(isOfLongLane), [0, 1, 2, 3], 'nothing else waits')
})

test('a lane is passed over only while what it has under way is young, also where the process is busy', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun, load, end } = paced((item) => (item < 2 ? 'hanging' : String(item)))
  load.isBusy = true
  starts.add(numbers(100))
  assert.ok(!begun.includes(1))
  await end(2)
  assert.ok(!begun.includes(1), 'others go first')
  t.mock.timers.tick(YOUNG_MS)
  await end(3)
  assert.ok(begun.includes(1))
})

test('what takes its time holds no place: work goes on beside receivers that hang', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun } = paced()
  starts.add(numbers(200))
  t.mock.timers.tick(YOUNG_MS - 1)
  assert.equal(begun.length, FIRST_YOUNG)
  for (let passed = 0; passed < 4; passed++) t.mock.timers.tick(YOUNG_MS)
  assert.deepEqual(begun, numbers(200))
})

test('what takes long while the process itself is busy keeps its place until it is not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun, load } = paced()
  load.isBusy = true
  starts.add(numbers(100))
  for (let passed = 0; passed < 10; passed++) t.mock.timers.tick(YOUNG_MS)
  assert.equal(begun.length, FIRST_YOUNG)
  load.isBusy = false
  t.mock.timers.tick(YOUNG_MS)
  assert.equal(begun.length, 3 * FIRST_YOUNG)
})

test('more is asked for when little waits, and never more than one claim takes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, end, calls } = paced()
  assert.equal(starts.room(), CLAIMED_ROWS)
  starts.add(numbers(FIRST_YOUNG + CLAIMED_AHEAD + 1))
  assert.deepEqual([starts.room(), calls()], [0, 0])
  await end(0)
  assert.equal(starts.room(), CLAIMED_ROWS - CLAIMED_AHEAD + 1)
  assert.equal(calls(), 1)
})

test('what was not begun is handed back whole, and not begun later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { starts, begun, end } = paced()
  starts.add(numbers(100))
  assert.deepEqual(starts.clear(), numbers(100 - FIRST_YOUNG, FIRST_YOUNG))
  await end(0)
  assert.deepEqual(begun, numbers(FIRST_YOUNG))
})
