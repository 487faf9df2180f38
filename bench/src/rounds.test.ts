import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exactly, numbered, type Rounds } from './rounds.ts'

/** Each takes ten milliseconds. */
function roundsOf(rounds: Rounds): number[] {
  let time = 0
  const done: number[] = []
  for (const round of numbered(rounds, () => time)) {
    done.push(round)
    time += 10
  }
  return done
}

test('as many rounds as fit into the time, within the minimum and the maximum', () => {
  assert.deepEqual(roundsOf({ most: 9, least: 2, limitMs: 35 }), [1, 2, 3, 4])
  assert.deepEqual(roundsOf({ most: 9, least: 2, limitMs: 5 }), [1, 2])
  assert.deepEqual(roundsOf({ most: 3, least: 2, limitMs: 1_000 }), [1, 2, 3])
  assert.deepEqual(roundsOf(exactly(3)), [1, 2, 3])
})
