import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { REQUIREMENTS } from './index.ts'

const LIST = join(import.meta.dirname, '../../../../docs/requirements.md')
const lines = readFileSync(LIST, 'utf8').matchAll(/^- (?<id>[A-Z]+-\d+) (?<meaning>.+)$/gmu)
const listed = [...lines].filter(([, id = '']) => !id.startsWith('O-'))

test('the kit knows every requirement of the project, and no other', () => {
  assert.deepEqual(REQUIREMENTS.map(({ id }) => id).toSorted(), listed.map(([, id = '']) => id).toSorted())
})

test('each requirement has a sentence of its own, and one that is judged of nobody says why', () => {
  const meanings = new Set(listed.map(([, , meaning]) => meaning))
  for (const { id, sentence, judgedOf, unseen } of REQUIREMENTS) {
    assert.match(sentence, /^[A-Z].+\.$/u, id)
    assert.ok(!meanings.has(sentence), `${id} repeats docs/requirements.md`)
    assert.ok(judgedOf.length > 0 || unseen !== undefined, id)
  }
})
