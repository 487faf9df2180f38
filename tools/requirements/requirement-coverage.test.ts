import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { countByArea, coverage, findNamedTests, nearest, parseRequirements } from './requirement-coverage.ts'

const markdown = `# Requirements
Prose that names OBJ-09 and \`[OBJ-01] a test\`.
## OBJ: objects
- OBJ-01 Formats hold.
- OBJ-02 Closed objects.
## O: open points
- O-01 Phases.
`
const requirements = parseRequirements(markdown)
const namedTests = (text: string) => findNamedTests({ path: 'a.test.ts', text })

test('only list items that start with an id are requirements', () => {
  assert.deepEqual(requirements, [
    { id: 'OBJ-01', area: 'OBJ', meaning: 'Formats hold.' },
    { id: 'OBJ-02', area: 'OBJ', meaning: 'Closed objects.' },
    { id: 'O-01', area: 'O', meaning: 'Phases.' },
  ])
})

test('an id listed twice is refused', () => {
  assert.throws(() => parseRequirements('- OBJ-01 a\n- OBJ-01 b\n'), /OBJ-01 is listed twice/u)
})

test('test names are found in every kind of quotes and test call, with their ids and line', () => {
  const found = namedTests(`
test('[OBJ-01][O-01] one', () => {})
describe("[OBJ-02] two", () => {
  it(\`[OBJ-01] \${kind} three\`, async () => {})
  test.skip(
    '[O-01] four',
  )
})
await t.test('[OBJ-02] five', fn)
suite('six without an id')
`)
  assert.deepEqual(
    found.map(({ ids, name, line }) => [line, ids, name]),
    [
      [2, ['OBJ-01', 'O-01'], '[OBJ-01][O-01] one'],
      [3, ['OBJ-02'], '[OBJ-02] two'],
      [4, ['OBJ-01'], '[OBJ-01] ${kind} three'],
      [6, ['O-01'], '[O-01] four'],
      [9, ['OBJ-02'], '[OBJ-02] five'],
    ],
  )
})

test('a table of names counts in a file that passes them to test', () => {
  const table = `const CASES = [['[OBJ-01] one', 1], { title: '[O-01][OBJ-02] two' }, ['about [OBJ-02]']]\n`
  const found = namedTests(`${table}for (const [title] of CASES) test(title, () => {})`)
  assert.deepEqual(
    found.map(({ name }) => name),
    ['[OBJ-01] one', '[O-01][OBJ-02] two'],
  )
  assert.deepEqual(namedTests(table), [])
})

test('comments, other calls and quoted tests are ignored', () => {
  const text = `
// test('[OBJ-01] in a comment')
const quoted = "test('[OBJ-01] in a string')"
log('[OBJ-01] in another call')
regex.latest('[OBJ-01] in a call that only ends like one')
`
  assert.deepEqual(namedTests(text), [])
})

test('coverage joins requirements and tests, and reports unknown ids', () => {
  const tests = namedTests(`test('[OBJ-01] a'); test('[OBJ-1][O-01] b')`)
  const { requirements: covered, unknown } = coverage(requirements, tests)
  assert.deepEqual(
    covered.map(({ id, tests: proofs }) => [id, proofs.map(({ name }) => name)]),
    [
      ['OBJ-01', ['[OBJ-01] a']],
      ['OBJ-02', []],
      ['O-01', ['[OBJ-1][O-01] b']],
    ],
  )
  assert.deepEqual(
    unknown.map(({ id, nearest: suggestion }) => [id, suggestion]),
    [['OBJ-1', 'OBJ-01']],
  )
  assert.deepEqual(countByArea(covered), [
    { area: 'OBJ', proved: 1, all: 2 },
    { area: 'O', proved: 1, all: 1 },
  ])
})

test('the nearest id to a known id is itself, also after one deletion', () => {
  const ids = ['API-01', 'AUTH-02', 'PKG-10', 'EVT-15', 'O-37']
  fc.assert(
    fc.property(fc.constantFrom(...ids), fc.nat(5), (id, position) => {
      assert.equal(nearest(id, ids), id)
      assert.equal(nearest(id.slice(0, position) + id.slice(position + 1), ids), id)
    }),
  )
})

test('docs/requirements.md numbers each area from 01 without gaps', () => {
  const listed = parseRequirements(
    readFileSync(join(import.meta.dirname, '../../docs/requirements.md'), 'utf8'),
  )
  for (const [area, own = []] of Object.entries(Object.groupBy(listed, ({ area: name }) => name))) {
    const expected = own.map((_, index) => `${area}-${String(index + 1).padStart(2, '0')}`)
    assert.deepEqual(
      own.map(({ id }) => id),
      expected,
    )
  }
})
