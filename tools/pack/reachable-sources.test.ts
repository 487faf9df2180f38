import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isTest, readFiles, ROOT } from '../repository/repository-files.ts'
import { isPublished, manifestOf } from './published-packages.ts'
import { unreachableSources } from './reachable-sources.ts'

/** Started by their path, which is put together at run time. */
const STARTED = ['packages/service/src/process/worker-main.ts', 'packages/pkcs11/src/module-worker.ts']

test('a source that only a test uses is found, and what an entry leads to is not', () => {
  const files = [
    { path: 'src/index.ts', text: "export { a } from './a.ts'\nawait import('./late.ts')" },
    { path: 'src/a.ts', text: "import type { B } from './deep/b.ts'" },
    { path: 'src/deep/b.ts', text: "import '../index.ts'" },
    { path: 'src/late.ts', text: '' },
    { path: 'src/by-hand.ts', text: "import './a.ts'" },
  ]
  assert.deepEqual(unreachableSources(files, ['src/index.ts']), ['src/by-hand.ts'])
})

test('published packages compile no source that only tests import', () => {
  for (const folder of readdirSync(join(ROOT, 'packages')).filter(isPublished)) {
    const files = readFiles((path) => path.startsWith(`packages/${folder}/src/`) && path.endsWith('.ts'))
    const sources = files.filter(({ path }) => !isTest(path))
    assert.deepEqual(unreachableSources(sources, [...entriesOf(folder), ...STARTED]), [], folder)
  }
})

/** What others import, and what the commands of the package run. */
function entriesOf(folder: string): string[] {
  const { exports, imports, bin } = manifestOf(folder)
  const named = JSON.stringify({ exports, imports }).matchAll(/"source":"\.\/(src\/[^"]+)"/gu)
  const entries = [...named].map(([, path = '']) => path)
  return [...entries, ...(bin ? ['src/main.ts'] : [])].map((path) => `packages/${folder}/${path}`)
}
