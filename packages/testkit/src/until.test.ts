import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './until.ts'

test('until returns what was found, and a failure counts as not yet', async () => {
  const answers = [undefined, new Error('busy'), 'found']
  const found = await until('an answer', () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  })
  assert.equal(found, 'found')
})

test('after the limit it says what was missing, with the last failure as cause', async () => {
  const busy = new Error('busy')
  await assert.rejects(
    until('an answer', () => Promise.reject(busy), { limitMs: 1, pollMs: 1 }),
    { message: 'not within 0.001 s: an answer', cause: busy },
  )
})
