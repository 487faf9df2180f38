import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Comparison } from './comparisons.ts'
import { alternate, estimatedMinutes, type Side } from './rounds.ts'

const comparison = (
  name: string,
  metrics: number,
  turnSeconds = 1,
  layout: Comparison['layout'] = 'apart',
): Comparison => ({
  name,
  what: name,
  layout,
  metrics: Array.from({ length: metrics }, (_, i) => ({
    id: `${name}_${i}`,
    label: name,
    better: 'higher',
  })),
  turnSeconds,
  measure: () => Promise.reject(new Error('not here')),
})

const rounded = (value: number) => Number(value.toFixed(6))

test('both sides of a comparison run in turns, and the order alternates', async () => {
  const turns: string[] = []
  const rounds: number[] = []
  const startRound = (round: number, order: readonly Side[]) => {
    turns.push(`${round} starts ${order.join(' and ')}`)
    return Promise.resolve({
      measure(each: Comparison, side: Side) {
        turns.push(`${round} ${each.name} ${side}`)
        return Promise.resolve(each.metrics.map((_, i) => round * 10 + i + (side === 'here' ? 0.5 : 0)))
      },
      [Symbol.asyncDispose]: () => Promise.resolve(void turns.push(`${round} ends`)),
    })
  }
  const compared = [comparison('a', 2), comparison('b', 1)]
  const series = await alternate(compared, 2, startRound, (round) => rounds.push(round))
  assert.deepEqual(turns, [
    '0 starts there and here',
    '0 a there',
    '0 a here',
    '0 b there',
    '0 b here',
    '0 ends',
    '1 starts here and there',
    '1 a here',
    '1 a there',
    '1 a there',
    '1 a here',
    '1 a here',
    '1 a there',
    '1 a there',
    '1 a here',
    '1 b here',
    '1 b there',
    '1 b there',
    '1 b here',
    '1 b here',
    '1 b there',
    '1 b there',
    '1 b here',
    '1 ends',
    '2 starts there and here',
    '2 a there',
    '2 a here',
    '2 a here',
    '2 a there',
    '2 a there',
    '2 a here',
    '2 a here',
    '2 a there',
    '2 b there',
    '2 b here',
    '2 b here',
    '2 b there',
    '2 b there',
    '2 b here',
    '2 b here',
    '2 b there',
    '2 ends',
  ])
  assert.deepEqual(
    series.map(({ metric: { id }, here, there }) => [id, here.map(rounded), there.map(rounded)]),
    [
      ['a_0', [10.5, 20.5], [10, 20]],
      ['a_1', [11.5, 21.5], [11, 21]],
      ['b_0', [10.5, 20.5], [10, 20]],
    ],
    'round 0 does not count',
  )
  assert.deepEqual(rounds, [0, 1, 2])
})

test('processes of one layout end before those of the other start', async () => {
  const events: string[] = []
  const compared = [comparison('a', 1), comparison('b', 1, 1, 'together'), comparison('c', 1)]
  await alternate(
    compared,
    1,
    (round, _order, layout) => {
      if (round > 0) events.push(`${layout} starts`)
      return Promise.resolve({
        measure({ name }: Comparison, side: Side) {
          if (round > 0 && events.at(-1) !== `${layout} ${name}`) events.push(`${layout} ${name}`)
          return Promise.resolve([side === 'here' ? 1 : 2])
        },
        [Symbol.asyncDispose]: () => Promise.resolve(void (round > 0 && events.push(`${layout} ends`))),
      })
    },
    () => undefined,
  )
  assert.deepEqual(events, [
    'apart starts',
    'apart a',
    'apart c',
    'apart ends',
    'together starts',
    'together b',
    'together ends',
  ])
})

test('the estimate grows with rounds and comparisons', () => {
  const [short, long] = [comparison('short', 1, 3), comparison('long', 1, 10)]
  assert.ok(estimatedMinutes([short], 20) < estimatedMinutes([short], 60))
  assert.ok(estimatedMinutes([short], 20) < estimatedMinutes([short, long], 20))
})
