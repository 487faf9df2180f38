import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGENT_CHECKS } from '../agent/checks/index.ts'
import { MUTANTS } from '../../mutants/index.ts'
import { AGENT_MUTANTS } from '../../mutants/of-agents.ts'
import { SERVICE_CHECKS } from '../service/checks/index.ts'
import { REQUIREMENTS } from './index.ts'

const judgedOf = (subject: 'service' | 'agent') =>
  REQUIREMENTS.filter((each) => each.judgedOf.includes(subject)).map(({ id }) => id)
const judged = judgedOf('service')

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

test('a check that a mutant names is of its id', () => {
  for (const { id, check, does } of MUTANTS.filter((each) => each.check !== undefined))
    assert.ok(SERVICE_CHECKS.find(({ name }) => name === check)?.ids.includes(id), does)
})

test('names of checks are unique', () => {
  const names = [...SERVICE_CHECKS, ...AGENT_CHECKS].map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})

test('[EVT-14] every requirement that is judged of an agent has a check, and every check a mutant of its id', () => {
  const checked = new Set(AGENT_CHECKS.flatMap(({ ids }) => ids))
  assert.deepEqual([...checked].toSorted(), judgedOf('agent').toSorted())
  const found = new Set(AGENT_MUTANTS.map(({ check }) => check))
  assert.deepEqual(
    AGENT_CHECKS.map(({ name }) => name).filter((name) => !found.has(name)),
    [],
  )
  for (const { id, check } of AGENT_MUTANTS)
    assert.ok(AGENT_CHECKS.find(({ name }) => name === check)?.ids.includes(id), `${check} is not of ${id}`)
})
