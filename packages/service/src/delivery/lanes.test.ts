import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLanes } from './lanes.ts'
import {
  FIRST_WINDOW,
  MAXIMUM_IN_FLIGHT,
  MAXIMUM_IN_FLIGHT_PER_ENDPOINT,
  MAXIMUM_TROUBLED_IN_FLIGHT,
} from './limits.ts'

/** Claims for everybody whose turn it is; each has endless work. */
function claimAll(lanes: ReturnType<typeof createLanes>): string[] {
  const claimed: string[] = []
  for (let wanted = lanes.take(); wanted.length > 0; wanted = lanes.take()) {
    for (const each of wanted) {
      lanes.claimed(each, each.room)
      for (let i = 0; i < each.room; i++) claimed.push(each.endpointId)
    }
  }
  return claimed
}

test('an endpoint gets little at first, more with each success up to the cap, and one after a failure', () => {
  const lanes = createLanes()
  lanes.wake('a')
  assert.equal(claimAll(lanes).length, FIRST_WINDOW)
  for (let i = 0; i < 100; i++) {
    lanes.finished('a', true)
    claimAll(lanes)
  }
  assert.equal(lanes.inFlight(), MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  for (let i = 0; i < MAXIMUM_IN_FLIGHT_PER_ENDPOINT; i++) lanes.finished('a', false)
  assert.equal(claimAll(lanes).length, 1)
})

test('workers share what an endpoint gets, and each has at least one', () => {
  const lanes = createLanes()
  lanes.wake('a')
  for (let i = 0; i < 100; i++) {
    claimAll(lanes)
    lanes.finished('a', true)
  }
  claimAll(lanes)
  assert.equal(lanes.inFlight(), MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  const heldBeside = (others: number) => {
    lanes.shareWith(others)
    while (lanes.inFlight() > 0) lanes.finished('a', true)
    claimAll(lanes)
    return lanes.inFlight()
  }
  assert.deepEqual([1, 2, 3, 100, 0].map(heldBeside), [8, 5, 4, 1, MAXIMUM_IN_FLIGHT_PER_ENDPOINT])
})

test('endpoints that hang hold at most their share, and those that work keep going', () => {
  const lanes = createLanes()
  const hanging = Array.from({ length: 3 * MAXIMUM_IN_FLIGHT }, (_, i) => `hanging ${i}`)
  // Each of them has failed once, with one request still under way.
  for (const id of hanging) lanes.wake(id)
  for (let round = 0; round < 20; round++) {
    const claimed = claimAll(lanes)
    claimed.forEach((id) => lanes.finished(id, false))
  }
  claimAll(lanes)
  assert.equal(lanes.inFlight(), MAXIMUM_TROUBLED_IN_FLIGHT)
  lanes.wake('well')
  assert.deepEqual(
    claimAll(lanes),
    Array.from({ length: FIRST_WINDOW }, () => 'well'),
  )
})

test('a call that comes while an endpoint is being claimed for is not lost', () => {
  const lanes = createLanes()
  lanes.wake('a')
  const [wanted] = lanes.take()
  assert.ok(wanted)
  lanes.wake('a')
  lanes.claimed(wanted, 0)
  assert.equal(lanes.take().length, 1)
})

test('an endpoint without work is forgotten; one with a time is looked at then, and not before', () => {
  const lanes = createLanes()
  lanes.schedule('a', 2_000)
  lanes.schedule('a', 1_000)
  assert.deepEqual(lanes.wakeDue(999), [])
  assert.equal(lanes.take().length, 0)
  assert.deepEqual(lanes.wakeDue(1_000), ['a'])
  const [wanted] = lanes.take()
  assert.ok(wanted)
  lanes.claimed(wanted, 0)
  assert.equal(lanes.size(), 0)
})

test('endpoints share what is free: a deep backlog of one leaves room for all others', () => {
  const lanes = createLanes()
  lanes.wake('deep')
  claimAll(lanes)
  for (let i = 0; i < 1_000; i++) {
    lanes.finished('deep', true)
    claimAll(lanes)
  }
  const others = Array.from({ length: 300 }, (_, i) => `other ${i}`)
  others.forEach(lanes.wake)
  const claimed = new Set(claimAll(lanes))
  assert.ok(others.every((id) => claimed.has(id)))
})
