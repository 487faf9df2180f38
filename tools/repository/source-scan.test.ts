import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { lineOf, scanSource } from './source-scan.ts'

const texts = (source: string) => scanSource(source).literals.map(({ text }) => text)

test('comments are blanked and line breaks are kept', () => {
  const { code } = scanSource("a // 'x'\n/* `y`\n */ b")
  assert.equal(code, 'a       \n      \n    b')
})

test('literals of every kind are found in order, and their contents are blanked', () => {
  const { code, literals } = scanSource(`f('one', "t'wo", \`three\`)`)
  assert.deepEqual(
    literals.map(({ text }) => text),
    ['one', "t'wo", 'three'],
  )
  assert.equal(code, `f('   ', "    ", \`     \`)`)
})

test('an expression inside a template is code, even with nested braces and templates', () => {
  const source = '`a ${ { b: `c ${now()}` }.b } d` + e'
  const { code } = scanSource(source)
  assert.match(code, /now\(\)/u)
  assert.match(code, /\+ e$/u)
  assert.doesNotMatch(code, /[acd] /u)
  assert.deepEqual(texts(source), ['a ${ { b: `c ${now()}` }.b } d', 'c ${now()}'])
})

test('a quote or a comment opener inside a regular expression is ignored', () => {
  const { code, literals } = scanSource(
    String.raw`const r = /['"/*]\/\/x/gu; return /'/.test(a) ? 'yes' : b / c / 'd'`,
  )
  assert.deepEqual(
    literals.map(({ text }) => text),
    ['yes', 'd'],
  )
  assert.match(code, /b \/ c \/ /u)
})

test('an escaped quote does not close its string, an unclosed string ends with its line', () => {
  assert.deepEqual(texts(String.raw`'it\'s' 'open`), [String.raw`it\'s`, 'open'])
  assert.deepEqual(texts("'open\n'next'"), ['open', 'next'])
})

test('code has the length and the lines of any input', () => {
  const fragment = fc.constantFrom("'", '"', '`', '${', '}', '{', '/', '*', '\\', '\n', 'a', ' ', '(', '😀')
  fc.assert(
    fc.property(fc.array(fragment), (parts) => {
      const source = parts.join('')
      const { code } = scanSource(source)
      assert.equal(code.length, source.length)
      assert.equal(code.split('\n').length, source.split('\n').length)
    }),
  )
})

test('lines count from one', () => {
  assert.equal(lineOf('a\nb\nc', 0), 1)
  assert.equal(lineOf('a\nb\nc', 4), 3)
})
