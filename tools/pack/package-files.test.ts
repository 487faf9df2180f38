import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strayFiles } from './package-files.ts'

const SOURCES = new Set([
  'index.ts',
  'node/index.ts',
  'faults/index.ts',
  'a.test.ts',
  'a.fixture.ts',
  'a-fixture.ts',
])

test('compiled sources and the files of a package are published', () => {
  const files = [
    'package.json',
    'README.md',
    'bin/aex.js',
    'migrations/0001.sql',
    'schemas/package.schema.json',
    'assets/defaults.js',
  ]
  const compiled = ['js', 'js.map', 'd.ts', 'd.ts.map'].map((ending) => `dist/node/index.${ending}`)
  assert.deepEqual(strayFiles([...files, ...compiled], SOURCES), [])
})

test('test code, sources, trials, the simulator and left-over builds are found', () => {
  const strays = [
    'dist/a.test.js',
    'dist/a.fixture.d.ts',
    'dist/a-fixture.js',
    'src/index.ts',
    'faults/main.ts',
    'dist/faults/index.js',
    'dist/connectors/simulator/index.js',
    'real-edc/main.ts',
    'dist/tsconfig.tsbuildinfo',
    'dist/removed.js',
    'dist/removed.d.ts.map',
  ]
  assert.deepEqual(strayFiles(['dist/index.js', ...strays], SOURCES), strays)
})
