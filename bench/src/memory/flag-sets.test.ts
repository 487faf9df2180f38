import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FLAG_SETS, parseFlagSets, settingsOf } from './flag-sets.ts'

test('--flags takes names, settings, or none', () => {
  assert.deepEqual(parseFlagSets(['none']), [])
  assert.deepEqual(parseFlagSets(['for-size', '--max-semi-space-size=2 MALLOC_ARENA_MAX=2']), [
    FLAG_SETS.find(({ name }) => name === 'for-size'),
    {
      name: '--max-semi-space-size=2 MALLOC_ARENA_MAX=2',
      settings: ['--max-semi-space-size=2', 'MALLOC_ARENA_MAX=2'],
    },
  ])
  for (const value of ['', 'nothing', 'max-semi-space-size', '--fast nothing'])
    assert.equal(parseFlagSets([value]), 'unknown', value)
})

test('flags of V8 and variables of the environment are apart', () => {
  const name = 'both'
  const settings = ['--max-semi-space-size=2', 'MALLOC_ARENA_MAX=2']
  assert.deepEqual(settingsOf({ name, settings }), {
    flags: ['--max-semi-space-size=2'],
    env: { MALLOC_ARENA_MAX: '2' },
  })
})
