import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkHygiene } from './hygiene-check.ts'

const messages = (path: string, text: string) =>
  checkHygiene({ path, text }).map(({ line, message }) => `${line} ${message}`)
const finds = (path: string, text: string, expected: RegExp) => {
  const found = messages(path, text)
  assert.equal(found.length, 1, `${text} gave ${JSON.stringify(found)}`)
  assert.match(found[0] ?? '', expected)
}
const findsNothing = (path: string, text: string) => assert.deepEqual(messages(path, text), [], text)

// Built at run time, so that this file passes the check that it tests.
const slashed = (...parts: string[]) => `/${parts.join('/')}`

test('machine-specific paths are found, ordinary paths are not', () => {
  for (const path of [
    slashed('work', 'x'),
    slashed('root', 'x'),
    slashed('home', 'ann', 'x'),
    slashed('tmp', 'bash'),
  ]) {
    finds('docs/a.md', `first\nsee ${path}`, /^2 .*machine-path/u)
  }
  finds('docs/a.md', `file:/${slashed('', 'etc')}`, /machine-path/u)
  findsNothing('docs/a.md', 'packages/work/src, ./root/x, https://example.org/work/x')
})

test('registry hosts are found', () => {
  finds('docs/a.md', `https://${['registry', 'example', 'org'].join('.')}/x`, /registry-host/u)
  findsNothing('docs/a.md', 'the registry. It is elsewhere')
})

test('a command that would ask a registry for an unpublished package is found', () => {
  const command = (options: string) =>
    ['npm install', options, '@agent-exchange', '/sdk'].join(' ').replace(' /', '/')
  for (const options of ['', '--global', '-D --save-exact'])
    finds('docs/a.md', command(options).replace('  ', ' '), /unpublished/u)
  findsNothing('docs/a.md', "npm install tarballs/agent-exchange-sdk.tgz; import '@agent-exchange/sdk'")
})

test('markers of unfinished work are found, words that contain them are not', () => {
  for (const mark of ['DO', 'XX'].map((end) => (end === 'DO' ? 'TO' : 'X') + end)) {
    finds('src/a.ts', `// ${mark}: later`, /unfinished/u)
    findsNothing('src/a.ts', `// ${mark}S and MY${mark}`)
    findsNothing('interop/vectors/a.json', mark)
    findsNothing('docs/images/a.png', mark)
  }
})

test('only and skip without a reason are found, a skip with a reason is not', () => {
  for (const text of ["test.only('a')", "test('a', { only: true })"]) finds('a.test.ts', text, /\(only\)/u)
  const skipped = ["test.skip('a')", "describe.todo('a')", "test('a', { skip: true })", 't.skip()']
  for (const text of skipped) finds('a.test.ts', `\n${text}`, /^2 .*\(skip\)/u)
  findsNothing('a.test.ts', "t.skip('no vectors here'); test('a', { skip: reason })")
  findsNothing('a.test.ts', `const quoted = "test.only('a')" // test.skip('b')`)
  findsNothing('src/a.ts', 'list.only')
})

test('versions must be exact in every group, including nested overrides', () => {
  const text = JSON.stringify(
    {
      dependencies: { a: '1.2.3', b: '^1.2.3' },
      devDependencies: { c: '1.0.0-beta.17', d: 'latest' },
      peerDependencies: { e: '>=24' },
      overrides: { f: { g: '1.x' } },
    },
    null,
    2,
  )
  assert.deepEqual(messages('packages/x/package.json', text), [
    '4 b ^1.2.3 in dependencies: pin one exact version',
    '8 d latest in devDependencies: pin one exact version',
    '15 g 1.x in overrides: pin one exact version',
  ])
})

test('the lock file may contain workspace folders but no URLs', () => {
  findsNothing('package-lock.json', '"resolved": "packages/cli", "link": true')
  finds('package-lock.json', '"resolved": "https://example.org/a.tgz"', /lock-address/u)
})
