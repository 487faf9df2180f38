import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCircles } from './import-circles.ts'

const file = (path: string, ...specifiers: string[]) => ({
  path,
  text: specifiers.map((specifier) => `import type { X } from '${specifier}'\n`).join(''),
})

test('files that import each other are a circle, by types too, and are reported once', () => {
  const files = [
    file('a/one.ts', './two.ts'),
    file('a/two.ts', '../b/three.ts'),
    file('b/three.ts', 'node:fs', '../a/one.ts'),
    file('b/four.ts', './three.ts'),
  ]
  assert.deepEqual(findCircles(files), [
    {
      path: 'a/one.ts',
      line: 1,
      message: 'imports in a circle: a/one.ts → a/two.ts → b/three.ts → a/one.ts',
    },
  ])
})

test('the line is that of the import that leads back', () => {
  const files = [file('a.ts', './b.ts', './c.ts'), file('b.ts'), file('c.ts', './a.ts')]
  assert.deepEqual(
    findCircles(files).map(({ path, line }) => `${path}:${line}`),
    ['a.ts:2'],
  )
})

test('imports in one direction are no circle', () => {
  assert.deepEqual(findCircles([file('a.ts', './b.ts', './c.ts'), file('b.ts', './c.ts'), file('c.ts')]), [])
})
