import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLanes } from './lanes.ts'
import {
  INITIAL_WINDOW,
  MAXIMUM_IN_FLIGHT,
  MAXIMUM_IN_FLIGHT_PER_ENDPOINT,
  MAXIMUM_FAILING_IN_FLIGHT,
} from './webhook-limits.ts'

/** Claims for each ready lane; every lane has unlimited work. */
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

test('the window of an endpoint starts small, grows with each success up to the limit, and falls to one after a failure', () => {
  const lanes = createLanes()
  lanes.wake('a')
  assert.equal(claimAll(lanes).length, INITIAL_WINDOW)
  for (let i = 0; i < 100; i++) {
    lanes.finished('a', true)
    claimAll(lanes)
  }
  assert.equal(lanes.inFlight(), MAXIMUM_IN_FLIGHT_PER_ENDPOINT)
  for (let i = 0; i < MAXIMUM_IN_FLIGHT_PER_ENDPOINT; i++) lanes.finished('a', false)
  assert.equal(claimAll(lanes).length, 1)
})

test('workers divide the per-endpoint limit, and each gets at least one', () => {
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

test('hanging endpoints hold at most their share, and healthy ones continue', () => {
  const lanes = createLanes()
  const hanging = Array.from({ length: 3 * MAXIMUM_IN_FLIGHT }, (_, i) => `hanging ${i}`)
  // Each of them has failed once and has one request in flight.
  for (const id of hanging) lanes.wake(id)
  for (let round = 0; round < 20; round++) {
    const claimed = claimAll(lanes)
    claimed.forEach((id) => lanes.finished(id, false))
  }
  claimAll(lanes)
  assert.equal(lanes.inFlight(), MAXIMUM_FAILING_IN_FLIGHT)
  lanes.wake('well')
  assert.deepEqual(
    claimAll(lanes),
    Array.from({ length: INITIAL_WINDOW }, () => 'well'),
  )
})

test('a wake-up during a claim for the same endpoint is not lost', () => {
  const lanes = createLanes()
  lanes.wake('a')
  const [wanted] = lanes.take()
  assert.ok(wanted)
  lanes.wake('a')
  lanes.claimed(wanted, 0)
  assert.equal(lanes.take().length, 1)
})

test('an idle lane is removed; a scheduled one wakes at its time and not before', () => {
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

test('endpoints share the free capacity: the deep backlog of one leaves room for all others', () => {
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

test('organizations with slow receivers never use all slots: each has at most as many as remain free', () => {
  const lanes = createLanes()
  const organizationOf = (endpointId: string) => endpointId.split(' ')[0]
  const claimFor = () => {
    for (let wanted = lanes.take(); wanted.length > 0; wanted = lanes.take())
      for (const each of wanted) lanes.claimed(each, each.room, organizationOf(each.endpointId))
  }
  // Their receivers have answered often enough for the largest window, and now answer no more.
  const widen = (organization: string) => {
    const ids = Array.from({ length: 20 }, (_, i) => `${organization} ${i}`)
    ids.forEach(lanes.wake)
    for (let round = 0; round < MAXIMUM_IN_FLIGHT_PER_ENDPOINT; round++) {
      claimFor()
      for (const id of ids) lanes.finished(id, true)
    }
    claimFor()
  }
  for (const organization of ['one', 'two', 'three', 'four']) widen(organization)
  const free = () => MAXIMUM_IN_FLIGHT - lanes.inFlight()
  assert.ok(free() >= MAXIMUM_IN_FLIGHT / 16, `${free()} slots are free`)
  const before = lanes.inFlight()
  lanes.wake('other 0')
  claimFor()
  assert.equal(lanes.inFlight() - before, INITIAL_WINDOW)
})

test('an endpoint whose older deliveries may wait, or which fails, has no slots for new ones', () => {
  const lanes = createLanes()
  assert.equal(lanes.reserve('a', 'org', 100), INITIAL_WINDOW)
  assert.equal(lanes.reserve('a', 'org', 100), 0)
  assert.equal(lanes.inFlight(), INITIAL_WINDOW)
  lanes.finished('a', true)
  assert.equal(lanes.reserve('a', 'org', 1), 1)
  lanes.finished('a', true)
  lanes.wake('a')
  assert.equal(lanes.reserve('a', 'org', 1), 0)
  assert.equal(lanes.reserve('b', 'org', 1), 1)
  lanes.schedule('b', Date.now() + 1_000)
  lanes.finished('b', false)
  assert.equal(lanes.reserve('b', 'org', 1), 0)
})

test('an organization gets no more slots for new deliveries than remain free', () => {
  const lanes = createLanes()
  let got = 0
  for (let endpoint = 0; endpoint < MAXIMUM_IN_FLIGHT; endpoint++)
    got += lanes.reserve(`${endpoint}`, 'org', 1)
  assert.equal(got, MAXIMUM_IN_FLIGHT / 2)
})

test('an idle endpoint keeps its window for a while', () => {
  const lanes = createLanes()
  for (let count = 0; count < 3; count++) {
    assert.equal(lanes.reserve('a', 'org', 1), 1)
    lanes.finished('a', true)
  }
  assert.equal(lanes.size(), 0)
  assert.equal(lanes.reserve('a', 'org', 100), INITIAL_WINDOW + 3)
})
