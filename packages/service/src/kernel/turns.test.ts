import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurns } from './turns.ts'

/** Work takes time only where the test says so. */
function scene() {
  let now = 0
  const started: string[] = []
  const turns = createTurns({ milliseconds: 4, clock: { monotonicMilliseconds: () => now } })
  const begin = (name: string, milliseconds: number) =>
    turns.run(name.charAt(0), async () => {
      started.push(name)
      now += milliseconds
      await Promise.resolve()
      return name
    })
  return { turns, started, begin }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('[O-13] work starts at once while a turn has time left', async () => {
  const { started, begin } = scene()
  const done = [begin('a1', 1), begin('a2', 1), begin('b1', 1)]
  assert.deepEqual(started, ['a1', 'a2', 'b1'])
  assert.deepEqual(await Promise.all(done), ['a1', 'a2', 'b1'])
})

test('[O-13] a turn starts a few milliseconds of work, and organizations are served one after the other', async () => {
  const { started, begin } = scene()
  const done = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => begin(name, 5))
  assert.deepEqual(started, ['a1'])
  await turn()
  assert.deepEqual(started, ['a1', 'a2'])
  await turn()
  // It came last, and its organization has not been served yet.
  assert.deepEqual(started, ['a1', 'a2', 'b1'])
  await Promise.all(done)
  assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('[O-13] long work that pauses lets others begin first, one part in each turn', async () => {
  const { turns, started, begin } = scene()
  const parts = async (name: string) => {
    for (let part = 1; part <= 2; part++) {
      await turns.pause(name)
      started.push(`${name}${part}`)
    }
  }
  const long = [parts('a'), parts('b')]
  const short = begin('c1', 1)
  await Promise.all([...long, short])
  assert.deepEqual(started, ['a1', 'b1', 'c1', 'a2', 'b2'])
})

test('[O-13] failures are passed on, and the number of those that wait is limited', async () => {
  const { turns, begin } = scene()
  await assert.rejects(
    turns.run('a', () => Promise.reject(new Error('fails'))),
    /fails/,
  )
  await turn()
  const many = Array.from({ length: 1_026 }, (_, index) => begin(`a${index}`, 5))
  await assert.rejects(many.at(-1) ?? Promise.resolve(), { code: 'rate_limited' })
  const other = begin('b1', 1)
  assert.equal(await other, 'b1')
  await Promise.allSettled(many)
})
