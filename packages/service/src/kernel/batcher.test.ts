import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBatcher, type BatchResult } from './batcher.ts'
import { Problem } from './problem.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function recorder(
  resultOf: (item: number, size: number) => BatchResult<number> = (item) => ({ done: item }),
) {
  const batches: number[][] = []
  const run = async (items: readonly number[]) => {
    batches.push([...items])
    await nextTurn()
    return items.map((item) => resultOf(item, items.length))
  }
  return { batches, run }
}

test('items that arrive together form a batch; items that arrive while it runs form the next one, up to the limit', async () => {
  const { batches, run } = recorder()
  const batcher = createBatcher({ concurrency: 1, maximumBatch: 3, maximumQueue: 100, run })
  const submitted = [1, 2].map((item) => batcher.submit(item))
  assert.deepEqual(batches, [])
  await nextTurn()
  assert.deepEqual(batches, [[1, 2]])
  submitted.push(...[3, 4, 5, 6].map((item) => batcher.submit(item)))
  assert.deepEqual(await Promise.all(submitted), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(batches, [[1, 2], [3, 4, 5], [6]])
})

test('[O-13] a batch takes from the holders in turn, so one that sends many delays only itself', async () => {
  const { batches, run } = recorder()
  const options = { concurrency: 1, maximumBatch: 3, maximumQueue: 100, run }
  const batcher = createBatcher({ ...options, holderOf: (item) => String(Math.floor(item / 100)) })
  const submitted = [1, 2, 3, 4, 5, 6, 7, 101, 201].map((item) => batcher.submit(item))
  await Promise.all(submitted)
  assert.deepEqual(batches, [
    [1, 2, 3],
    [4, 101, 201],
    [5, 6, 7],
  ])
})

test('[O-13] one holder fills at most half of the queue', async () => {
  const { run } = recorder()
  const options = { concurrency: 1, maximumBatch: 1, maximumQueue: 4, run }
  const batcher = createBatcher({ ...options, holderOf: (item) => String(Math.floor(item / 100)) })
  const submitted = [1, 2, 3].map((item) => batcher.submit(item))
  await assert.rejects(batcher.submit(4), { code: 'rate_limited' })
  const others = [101, 201].map((item) => batcher.submit(item))
  await assert.rejects(batcher.submit(301), { code: 'service_overloaded' })
  assert.deepEqual(await Promise.all([...submitted, ...others]), [1, 2, 3, 101, 201])
})

test('while a batch runs, only a full batch starts by default', async () => {
  const { batches, run } = recorder()
  const batcher = createBatcher({ concurrency: 2, maximumBatch: 3, maximumQueue: 100, run })
  const submitted = [batcher.submit(1)]
  await nextTurn()
  submitted.push(...[2, 3].map((item) => batcher.submit(item)))
  assert.deepEqual(batches, [[1]])
  submitted.push(...[4, 5, 6, 7].map((item) => batcher.submit(item)))
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  await Promise.all(submitted)
  assert.deepEqual(batches, [[1], [2, 3, 4], [5, 6, 7]])
})

test('while a batch runs, a batch of minConcurrentBatch items starts in the next event loop turn', async () => {
  const held = Promise.withResolvers<void>()
  const batches: number[][] = []
  const run = async (items: readonly number[]) => {
    batches.push([...items])
    await held.promise
    return items.map((item) => ({ done: item }))
  }
  const options = { concurrency: 2, maximumBatch: 9, minConcurrentBatch: 3, maximumQueue: 100, run }
  const batcher = createBatcher<number, number>(options)
  const submitted = [batcher.submit(1)]
  await nextTurn()
  submitted.push(...[2, 3].map((item) => batcher.submit(item)))
  await nextTurn()
  assert.deepEqual(batches, [[1]])
  submitted.push(...[4, 5].map((item) => batcher.submit(item)))
  await nextTurn()
  assert.deepEqual(batches, [[1], [2, 3, 4, 5]])
  held.resolve()
  await Promise.all(submitted)
})

test('an item that makes its batch fail is rejected, and the others succeed', async () => {
  const run = async (items: readonly number[]) => {
    await nextTurn()
    if (items.includes(13)) throw new Error('poison')
    return items.map((item) => ({ done: item }))
  }
  const batcher = createBatcher({ concurrency: 1, maximumBatch: 10, maximumQueue: 100, run })
  const settled = await Promise.allSettled([1, 2, 13, 4].map((item) => batcher.submit(item)))
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
})

test('an item to retry runs singly, a failed item is rejected, and neither delays the others', async () => {
  const { batches, run } = recorder((item, size) => {
    if (item === 2 && size > 1) return 'retrySingly'
    return item === 3 ? { failed: new Problem('package_expired') } : { done: item }
  })
  const batcher = createBatcher({ concurrency: 1, maximumBatch: 10, maximumQueue: 100, run })
  const [one, two, three] = await Promise.allSettled([
    batcher.submit(1),
    batcher.submit(2),
    batcher.submit(3),
  ])
  assert.deepEqual([one?.status, two?.status, three?.status], ['fulfilled', 'fulfilled', 'rejected'])
  assert.deepEqual(batches, [[1, 2, 3], [2]])
})

test('[ERR-03] a full queue refuses the next item with a problem that says when to retry', async () => {
  let release = () => undefined as void
  const gate = new Promise<void>((resolve) => (release = resolve))
  const run = async (items: readonly number[]) => {
    await gate
    return items.map((item) => ({ done: item }))
  }
  const batcher = createBatcher({ concurrency: 1, maximumBatch: 1, maximumQueue: 2, run })
  const accepted = [1, 2, 3].map((item) => batcher.submit(item))
  await assert.rejects(
    batcher.submit(4),
    (error) => error instanceof Problem && error.code === 'service_overloaded',
  )
  let idle = false
  const waiting = batcher.idle().then(() => (idle = true))
  assert.equal(idle, false)
  release()
  assert.deepEqual(await Promise.all(accepted), [1, 2, 3])
  await waiting
})
