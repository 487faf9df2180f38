import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFairQueue } from './fair-queue.ts'

test('[O-13] holders are served in turn, each in its own order', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.push(item.charAt(0), item)
  assert.deepEqual([queue.size(), queue.sizeOf('a'), queue.sizeOf('d')], [6, 3, 0])
  const order = ['a1', 'b1', 'c1', 'a2']
  assert.deepEqual(
    order.map(() => queue.shift()),
    order,
  )
  // A holder that comes back waits for its turn.
  queue.push('b', 'b2')
  assert.deepEqual([queue.shift(), queue.shift(), queue.shift()], ['c2', 'a3', 'b2'])
  assert.deepEqual([queue.shift(), queue.size()], [undefined, 0])
})

test('a holder that is not accepted keeps its place; an item can be removed', () => {
  const queue = createFairQueue<string>()
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item)
  assert.equal(
    queue.shift((holder) => holder !== 'a'),
    'b1',
  )
  assert.equal(
    queue.shift((holder) => holder !== 'a'),
    undefined,
  )
  queue.delete('a', 'a1')
  queue.delete('a', 'a1')
  assert.deepEqual([queue.size(), queue.shift(), queue.shift()], [1, 'a2', undefined])
})
