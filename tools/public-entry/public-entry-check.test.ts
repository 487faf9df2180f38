import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportsOf } from './entry-exports.ts'
import { checkNames, checkUse, type PublicNames } from './public-entry-check.ts'

const MAIN = '@agent-exchange/sdk'
const entry = (values: string[], types: string[] = []): PublicNames => ({ [MAIN]: { values, types } })
const messages = (findings: readonly { message: string }[]) => findings.map(({ message }) => message)

test('values and types of an entry are told apart', () => {
  const text = `export { b, type C } from './b.ts'\nexport type {\n  D,\n  A,\n} from './d.ts'\n`
  assert.deepEqual(exportsOf(text), { values: ['b'], types: ['A', 'C', 'D'] })
  assert.deepEqual(exportsOf("export type * from './b.ts'").values, ['*'])
})

test('a name that was added or removed is reported, and a value that became a type is both', () => {
  const found = messages(checkNames(entry(['connect', 'extra'], ['Agent']), entry(['connect', 'Agent'])))
  assert.deepEqual(
    found.map((message) => message.slice(0, message.indexOf(' ('))),
    ['+ extra', '- Agent', '+ Agent'],
  )
  assert.deepEqual(checkNames(entry(['connect']), entry(['connect'])), [])
})

test('more than thirty public values are refused, listed or not', () => {
  const many = entry(Array.from({ length: 31 }, (_, index) => `value${index}`))
  assert.match(messages(checkNames(many, many)).join(), /31 public values/u)
})

test('a document imports only names of the public entries', () => {
  const page = (code: string) => ({ path: 'docs/a.md', text: `# A\n\n\`\`\`ts\n${code}\n\`\`\`\n` })
  const found = entry(['connect'], ['Agent'])
  assert.deepEqual(checkUse(page(`import { connect, type Agent } from '${MAIN}'`), found), [])
  assert.deepEqual(checkUse(page(`import { sendPackage } from '${MAIN}'`), found), [
    { path: 'docs/a.md', line: 4, message: `${MAIN} does not export sendPackage` },
  ])
  assert.match(
    messages(checkUse(page(`import { pause } from '${MAIN}/internal'`), found)).join(),
    /internal is no public entry/u,
  )
  assert.match(
    messages(
      checkUse({ path: 'examples/a.ts', text: `import * as x from '${MAIN}/internal'` }, found),
    ).join(),
    /internal is no public entry/u,
  )
})
