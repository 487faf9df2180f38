import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactly, inTurns, type Rounds } from './rounds.ts'

const contender = (id: string) => ({ id, label: id })

/** Each turn takes ten milliseconds. */
async function turnsOf(rounds: Rounds, ids: readonly string[], isWarm?: boolean) {
  let time = 0
  const turns: string[] = []
  const results = await inTurns(ids.map(contender), {
    rounds,
    measure: async ({ id }, round) => {
      time += 10
      turns.push(`${round}${id}`)
      return round
    },
    progress: () => undefined,
    show: String,
    now: () => time,
    ...(isWarm !== undefined && { isWarm }),
  })
  return { turns: turns.join(' '), results }
}

test('as many rounds as fit into the time, within the minimum and the maximum', async () => {
  const count = async (rounds: Rounds) => (await turnsOf(rounds, ['a'], true)).results.get('a')
  assert.deepEqual(await count({ most: 9, least: 2, limitMs: 35 }), [1, 2, 3, 4])
  assert.deepEqual(await count({ most: 9, least: 2, limitMs: 5 }), [1, 2])
  assert.deepEqual(await count({ most: 3, least: 2, limitMs: 1_000 }), [1, 2, 3])
})

test('the order alternates, and a round that warms up is discarded', async () => {
  const { turns, results } = await turnsOf(exactly(2), ['a', 'b'])
  assert.equal(turns, '0b 0a 1a 1b 2b 2a')
  assert.deepEqual(results.get('b'), [1, 2])
})
