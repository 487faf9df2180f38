import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { RECORD_TEXTS } from './desk-texts.ts'

const SOURCES = [import.meta.dirname, `${import.meta.dirname}/../approvals`].flatMap((cwd) =>
  globSync(['*-page.ts', '*-pages.ts', '*-desk-host.ts', 'decision-needs.ts'], { cwd }).map(
    (name) => `${cwd}/${name}`,
  ),
)
/** Text between two tags of a template, or a label in quotation marks that begins like a sentence. */
const BETWEEN_TAGS = /(?<!=)>\s*([A-Z][a-z]+[^<$`]*)</u
const LABEL = /(?:title|label|text|hint|caption|summary|explanation|navigation):\s*'([A-Z][^']*)'/u
const COLUMNS = /columns: \[\s*(?:\{ title: )?'([A-Z][^']*)'/u

test('pages hold no sentence of their own, so that a second language needs one file', () => {
  assert.ok(SOURCES.length >= 8, `${SOURCES.length} files`)
  for (const file of SOURCES) {
    const source = readFileSync(file, 'utf8')
    for (const pattern of [BETWEEN_TAGS, LABEL, COLUMNS])
      assert.equal(pattern.exec(source)?.[1], undefined, file)
  }
})

test('every action that is recorded has words', () => {
  const packages = `${import.meta.dirname}/../../..`
  const files = ['gateway/src/**/*.ts', 'cli/src/commands/gateway/*.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: packages, exclude: ['**/*.test.ts'] }),
  )
  const written = files.flatMap((file) =>
    [...readFileSync(`${packages}/${file}`, 'utf8').matchAll(/(?:action: |entryOf\()'(\w+\.\w+)'/gu)].map(
      ([, action]) => action ?? '',
    ),
  )
  assert.ok(written.length > 20, `${written.length} actions`)
  assert.deepEqual([...new Set(written)].toSorted(), Object.keys(RECORD_TEXTS.actions).toSorted())
})
