import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGroupCommit, type BatchResult } from './group-commit.ts'
import { Problem } from './problem.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

function recorder(judge: (item: number, size: number) => BatchResult<number> = (item) => ({ done: item })) {
  const batches: number[][] = []
  const commit = async (items: readonly number[]) => {
    batches.push([...items])
    await nextTurn()
    return items.map((item) => judge(item, items.length))
  }
  return { batches, commit }
}

test('what arrives together is one batch; what arrives during its commit forms the next, within the limit', async () => {
  const { batches, commit } = recorder()
  const group = createGroupCommit({ lanes: 1, maximumBatch: 3, maximumQueue: 100, commit })
  const submitted = [1, 2].map((item) => group.submit(item))
  assert.deepEqual(batches, [])
  await nextTurn()
  assert.deepEqual(batches, [[1, 2]])
  submitted.push(...[3, 4, 5, 6].map((item) => group.submit(item)))
  assert.deepEqual(await Promise.all(submitted), [1, 2, 3, 4, 5, 6])
  assert.deepEqual(batches, [[1, 2], [3, 4, 5], [6]])
})

test('beside the batch under way only a full one is begun', async () => {
  const { batches, commit } = recorder()
  const group = createGroupCommit({ lanes: 2, maximumBatch: 3, maximumQueue: 100, commit })
  const submitted = [group.submit(1)]
  await nextTurn()
  submitted.push(...[2, 3].map((item) => group.submit(item)))
  assert.deepEqual(batches, [[1]])
  submitted.push(...[4, 5, 6, 7].map((item) => group.submit(item)))
  assert.deepEqual(batches, [[1], [2, 3, 4]])
  await Promise.all(submitted)
  assert.deepEqual(batches, [[1], [2, 3, 4], [5, 6, 7]])
})

test('beside the batch under way one is begun in the next turn once it has enough', async () => {
  const held = Promise.withResolvers<void>()
  const batches: number[][] = []
  const commit = async (items: readonly number[]) => {
    batches.push([...items])
    await held.promise
    return items.map((item) => ({ done: item }))
  }
  const options = { lanes: 2, maximumBatch: 9, leastBeside: 3, maximumQueue: 100, commit }
  const group = createGroupCommit<number, number>(options)
  const submitted = [group.submit(1)]
  await nextTurn()
  submitted.push(...[2, 3].map((item) => group.submit(item)))
  await nextTurn()
  assert.deepEqual(batches, [[1]])
  submitted.push(...[4, 5].map((item) => group.submit(item)))
  await nextTurn()
  assert.deepEqual(batches, [[1], [2, 3, 4, 5]])
  held.resolve()
  await Promise.all(submitted)
})

test('an item that makes its batch fail fails alone, and its neighbours pass', async () => {
  const commit = async (items: readonly number[]) => {
    await nextTurn()
    if (items.includes(13)) throw new Error('poison')
    return items.map((item) => ({ done: item }))
  }
  const group = createGroupCommit({ lanes: 1, maximumBatch: 10, maximumQueue: 100, commit })
  const settled = await Promise.allSettled([1, 2, 13, 4].map((item) => group.submit(item)))
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
})

test('an item put off runs by itself; one that fails is refused; the others are not held up', async () => {
  const { batches, commit } = recorder((item, size) => {
    if (item === 2 && size > 1) return 'alone'
    return item === 3 ? { failed: new Problem('package_expired') } : { done: item }
  })
  const group = createGroupCommit({ lanes: 1, maximumBatch: 10, maximumQueue: 100, commit })
  const [one, two, three] = await Promise.allSettled([group.submit(1), group.submit(2), group.submit(3)])
  assert.deepEqual([one?.status, two?.status, three?.status], ['fulfilled', 'fulfilled', 'rejected'])
  assert.deepEqual(batches, [[1, 2, 3], [2]])
})

test('[ERR-03] a full queue refuses the next item with a problem that says when to come back', async () => {
  let release = () => undefined as void
  const gate = new Promise<void>((resolve) => (release = resolve))
  const commit = async (items: readonly number[]) => {
    await gate
    return items.map((item) => ({ done: item }))
  }
  const group = createGroupCommit({ lanes: 1, maximumBatch: 1, maximumQueue: 2, commit })
  const accepted = [1, 2, 3].map((item) => group.submit(item))
  await assert.rejects(
    group.submit(4),
    (error) => error instanceof Problem && error.code === 'service_overloaded',
  )
  let idle = false
  const waiting = group.idle().then(() => (idle = true))
  assert.equal(idle, false)
  release()
  assert.deepEqual(await Promise.all(accepted), [1, 2, 3])
  await waiting
})
