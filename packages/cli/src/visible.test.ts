import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyCharacter, anyText } from '@agent-exchange/testkit/any-text'
import fc from 'fast-check'
import { visible, visibleJson } from './visible.ts'

/** Everything that a terminal could take for a command, but for the line feeds that lay JSON out. */
const OBEYED = /\p{Cc}/u

test('no control character of a stranger reaches the terminal, and the text can still be read', () => {
  assert.equal(visible('a\u001b[2Jb'), 'a\\u001b[2Jb')
  assert.equal(visible('a\u009b2Jb\u007f'), 'a\\u009b2Jb\\u007f')
  assert.equal(visible('Überhang, 3 × "rails"'), 'Überhang, 3 × "rails"')
  fc.assert(fc.property(anyText, (text) => !OBEYED.test(visible(text))))
})

test('JSON for a terminal is the same JSON', () => {
  fc.assert(
    fc.property(fc.json({ stringUnit: anyCharacter }), (json) => {
      const value = JSON.parse(json) as unknown
      const shown = visibleJson(value)
      assert.deepEqual(JSON.parse(shown), value)
      assert.doesNotMatch(shown.replaceAll('\n', ''), OBEYED)
    }),
  )
})
