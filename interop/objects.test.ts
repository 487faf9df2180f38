/** Validates every published protocol object with our validator. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_TYPES, validateObject } from '@agent-exchange/protocol'
import { type InvalidObject, readFolder } from './vector-file.ts'

const valid = readFolder<{ object_type: string }>('objects/valid')
const invalid = readFolder<InvalidObject>('objects/invalid')

test('[OBJ-03] each valid object is accepted, and each of the six types is among them', async (t) => {
  for (const [name, object] of valid) {
    await t.test(`objects/valid/${name}`, () => assert.deepEqual(validateObject(object).failures, []))
  }
  const types = new Set([...valid.values()].map(({ object_type }) => object_type))
  assert.deepEqual([...types].toSorted(), OBJECT_TYPES.toSorted())
})

const TITLES: readonly (readonly [title: string, rule: string])[] = [
  ['[OBJ-01] shared formats', 'OBJ-01'],
  ['[OBJ-02] created_by and trace are closed', 'OBJ-02'],
  ['[OBJ-03] the common envelope is complete', 'OBJ-03'],
  ['[OBJ-04] nothing unknown at the top', 'OBJ-04'],
  ['[OBJ-05] reasoning_package', 'OBJ-05'],
  ['[OBJ-06] response_object', 'OBJ-06'],
  ['[OBJ-07] policy_envelope', 'OBJ-07'],
  ['[OBJ-08] loop_thread', 'OBJ-08'],
  ['[OBJ-09] network_story', 'OBJ-09'],
  ['[OBJ-10] audit_event', 'OBJ-10'],
  ['[OBJ-11] the score lies within 0 and 1', 'OBJ-11'],
  ['[OBJ-12] no duplicates', 'OBJ-12'],
  ['[OBJ-13] nothing is due before it was created', 'OBJ-13'],
  ['[OBJ-14] what may not be forwarded lists nobody', 'OBJ-14'],
  ['[OBJ-15] minimum days, windows and versions', 'OBJ-15'],
  ['[OBJ-16] a package has its policy and approval id', 'OBJ-16'],
  ['[OBJ-17] a closed thread does not go on to responded', 'OBJ-17'],
  ['[OBJ-19] times', 'OBJ-19'],
]

for (const [title, rule] of TITLES) {
  test(title, async (t) => {
    const own = [...invalid].filter(([, broken]) => broken.rule === rule)
    assert.ok(own.length > 0, `no invalid object breaks ${rule}`)
    for (const [name, { pointer, object }] of own) {
      await t.test(`objects/invalid/${name}`, () => {
        const found = validateObject(object).failures.map((failure) => [failure.rule, failure.pointer])
        assert.deepEqual(found, [[rule, pointer]])
      })
    }
  })
}

test('a published object violates every object rule from OBJ-01 to OBJ-19 that data can violate', () => {
  // OBJ-18 concerns the schemas themselves, not data.
  const breakable = Array.from({ length: 19 }, (_, i) => `OBJ-${String(i + 1).padStart(2, '0')}`).filter(
    (rule) => rule !== 'OBJ-18',
  )
  assert.deepEqual([...new Set([...invalid.values()].map(({ rule }) => rule))].toSorted(), breakable)
  assert.deepEqual(
    TITLES.map(([, rule]) => rule),
    breakable,
  )
})
