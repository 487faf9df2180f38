import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MUTANTS } from '../mutants/index.ts'
import { SERVICE_CHECKS } from '../service/checks/index.ts'
import { REQUIREMENTS } from './index.ts'

const judged = REQUIREMENTS.filter(({ judgedOf }) => judgedOf.includes('service')).map(({ id }) => id)

test('every requirement that is judged of a service has a check and a mutant', () => {
  const checked = new Set(SERVICE_CHECKS.flatMap(({ ids }) => ids))
  const broken = new Set(MUTANTS.map(({ id }) => id))
  assert.deepEqual(
    judged.filter((id) => !checked.has(id)),
    [],
  )
  assert.deepEqual(
    judged.filter((id) => !broken.has(id)),
    [],
  )
  assert.deepEqual(
    [...checked, ...broken].filter((id) => !judged.includes(id)),
    [],
  )
})

test('names of checks are unique', () => {
  const names = SERVICE_CHECKS.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})
