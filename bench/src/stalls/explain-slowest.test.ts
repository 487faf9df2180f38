import assert from 'node:assert/strict'
import { test } from 'node:test'
import { beyondUsual, explain, meanLength, slowestOf } from './explain-slowest.ts'

const request = (from: number, milliseconds: number) => ({ from, to: from + milliseconds })
const requests = [...Array.from({ length: 198 }, (_, i) => request(i, 5)), request(50, 40), request(150, 60)]

test('the slowest hundredth is explained by what happened at the same time', () => {
  const slowest = slowestOf(requests)
  assert.deepEqual(slowest, [request(150, 60), request(50, 40)])
  assert.equal(meanLength(slowest), 50)
  const blocked = { id: 'blocked', label: '', intervals: [request(40, 20), request(80, 5), request(140, 50)] }
  // 10 + 5 of 40 ms, and 40 of 60 ms.
  assert.deepEqual(explain(slowest, blocked), { milliseconds: 27.5, share: 0.5 })
  assert.deepEqual(explain(slowest, { ...blocked, intervals: [] }), { milliseconds: 0, share: 0 })
})

test('only what is longer than usual delays anybody', () => {
  const commits = [request(0, 1), request(10, 1), request(20, 1), request(30, 9)]
  assert.deepEqual(beyondUsual(commits, 3), [request(31, 8)])
})
