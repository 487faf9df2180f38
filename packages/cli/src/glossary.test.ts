import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from './running-exchange.fixture.ts'

const page = (name: string) => readFileSync(join(ROOT, name), 'utf8')

/** Terms that a newcomer meets in the first pages. */
const TERMS = [
  'agent',
  'capsule',
  'desk',
  'draft',
  'evidence',
  'exchange',
  'fingerprint',
  'invitation',
  'package',
  'policy receipt',
  'skill',
  'thread',
  'transparency log',
  'witness',
]

test('the glossary explains the terms of the first pages, on one page that the documentation links', () => {
  const glossary = page('docs/glossary.md')
  const explained = new Set([...glossary.matchAll(/^\| \*\*([^*]+)\*\*/gmu)].map(([, term = '']) => term))
  assert.deepEqual(
    TERMS.filter((term) => !explained.has(term)),
    [],
  )
  assert.deepEqual(
    [...explained].toSorted((one, other) => (one < other ? -1 : 1)),
    [...explained],
    'in alphabetical order',
  )
  assert.ok(glossary.split('\n').length < 60, 'one page')
  assert.match(page('docs/README.md'), /\(glossary\.md\)/u)
})

test('a skill is explained where it first appears', () => {
  for (const name of ['README.md', 'docs/quickstart.md']) {
    const text = page(name).replaceAll(/^```[\s\S]*?^```/gmu, '')
    const first = text.search(/skill/iu)
    const sentence = text.slice(first - 1, first + 160)
    assert.match(sentence, /^\[skills\]\((?:docs\/)?glossary\.md\)/u, name)
    assert.match(sentence.replaceAll(/\s+/gu, ' '), /shared ways? of writing and reading packages/u, name)
  }
})
