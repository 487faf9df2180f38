import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseStrictJson, parseWithSpans } from './strict-json.ts'

const utf8 = new TextEncoder()

test('strict JSON refuses text that two parsers could interpret differently', (t) => {
  const refused: [string, string | Uint8Array][] = [
    ['json_duplicate_member', '{"a":1,"a":2}'],
    ['json_duplicate_member', '{"a":1,"\\u0061":2}'],
    ['json_duplicate_member', '{"o":[{"x":{"y":1,"z":2,"y":3}}]}'],
    ['json_duplicate_member', '{"__proto__":1,"__proto__":2}'],
    ['json_duplicate_member', '{"":1,"":1}'],
    ['json_duplicate_member', '{"\\"":1,"\\u0022":1}'],
    ['json_lone_surrogate', '"\\ud800"'],
    ['json_lone_surrogate', '{"\\udc00x":1}'],
    ['json_lone_surrogate', '["\\ud83d\\ud83d"]'],
    ['json_lone_surrogate', '"\ud800"'],
    ['json_number', '1e400'],
    ['json_number', '[-1e400]'],
    ['json_number', '1e-400'],
    ['json_number', '9007199254740993'],
    ['json_number', '{"a":-9007199254740993}'],
    ['json_byte_order_mark', '\ufeff{}'],
    ['json_byte_order_mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d)],
    ['json_encoding', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22)],
    ['json_encoding', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['json_syntax', ''],
    ['json_syntax', '{} {}'],
    ['json_syntax', '[1,]'],
    ['json_syntax', '{a:1}'],
    ['json_syntax', '01'],
    ['json_syntax', 'NaN'],
    ['json_depth', '['.repeat(33) + ']'.repeat(33)],
    ['json_depth', '{"a":'.repeat(33) + '1' + '}'.repeat(33)],
  ]
  for (const [code, input] of refused) t.assert.throws(() => parseStrictJson(input), { code }, String(input))
})

test('strict JSON accepts values that survive a round trip', (t) => {
  const accepted = [
    '{"a":{"b":1},"c":{"b":2},"b":[{"b":1},{"b":2}]}',
    '"\\ud83d\\ude00"',
    '"a\\\\"',
    '{"a\\\\":1,"a":"\\\\\\""}',
    '[0,-0,0.0,0e5,1.5,333333333.33333329,1e308,9007199254740992,-9007199254740992,5e-324,295147905179352830000]',
    '["{\\"a\\":1,\\"a\\":2}"]',
    ' \t\r\n[ ]\n',
    '['.repeat(32) + ']'.repeat(32),
  ]
  for (const text of accepted) t.assert.deepEqual(parseStrictJson(utf8.encode(text)), JSON.parse(text))
})

test('a member named __proto__ is data and changes no prototype', (t) => {
  const value = parseStrictJson('{"__proto__":{"polluted":true}}')
  assert.ok(Object.hasOwn(Object(value), '__proto__'))
  t.assert.equal(Object.getPrototypeOf(value), Object.prototype)
})

test('[ERR-02] an error has the position and contains no input', (t) => {
  t.assert.throws(
    () => parseStrictJson('{"secret":1,"secret":2}', { at: 'payload' }),
    (error: Error & { offset?: number }) =>
      error.offset === 12 &&
      error.message.startsWith('payload: ') &&
      !/secret/.test(JSON.stringify(error) + error.message),
  )
  t.assert.throws(
    () => parseStrictJson('{"secret" 1}'),
    (error: Error) => !error.message.includes('secret') && error.cause === undefined,
  )
})

test('[O-14] the text is inspected before it is parsed', (t) => {
  const seen: unknown[] = []
  const inspect = (json: Uint8Array, at: string | undefined) => {
    seen.push([new TextDecoder().decode(json), at])
    throw new Error('too long')
  }
  t.assert.throws(() => parseStrictJson('[1,{"a"', { inspect, at: 'payload' }), /too long/)
  t.assert.throws(() => parseStrictJson(utf8.encode('{"é":1}'), { inspect }), /too long/)
  t.assert.deepEqual(seen, [
    ['[1,{"a"', 'payload'],
    ['{"é":1}', undefined],
  ])
})

test('spans return the exact text of each outer member', (t) => {
  const { text, spans } = parseWithSpans('{ "a" : [1, {"b": 2} ] ,"c":"x,}" , "\\u0064": 7\n}')
  const written = [...spans].map(([name, { start, end }]) => [name, text.slice(start, end)])
  t.assert.deepEqual(written, [
    ['a', '[1, {"b": 2} ]'],
    ['c', '"x,}"'],
    ['d', '7'],
  ])
})

test('strict JSON agrees with JSON.parse wherever it accepts', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 0, max: 3 }), (text, indent) => {
      const spaced = JSON.stringify(JSON.parse(text), null, indent)
      let value: unknown
      try {
        value = parseStrictJson(spaced)
      } catch {
        return !spaced.isWellFormed() || /\\ud[89a-f]/i.test(spaced)
      }
      return JSON.stringify(value) === JSON.stringify(JSON.parse(spaced))
    }),
    { numRuns: 500 },
  )
})

test('strict JSON refuses every injected duplicate', (t) => {
  const name = fc.string({ unit: 'grapheme', maxLength: 6 })
  fc.assert(
    fc.property(
      fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 }),
      fc.nat(),
      fc.nat(5),
      (object, at, depth) => {
        const names = Object.keys(object)
        const repeated = names[at % names.length] ?? ''
        const escaped = repeated
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        const inner = JSON.stringify(object).slice(0, -1) + `,"${escaped.join('')}":0}`
        const text = '{"o":['.repeat(depth) + inner + ']}'.repeat(depth)
        t.assert.throws(() => parseStrictJson(text), { code: 'json_duplicate_member' })
      },
    ),
    { numRuns: 300 },
  )
})

test('truncated or altered text is never accepted as another value', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.integer({ min: 0, max: 0x7f }), (text, at, code) => {
      const i = at % text.length
      const damaged = text.slice(0, i) + String.fromCharCode(code) + text.slice(i + 1)
      try {
        return JSON.stringify(parseStrictJson(damaged)) === JSON.stringify(JSON.parse(damaged))
      } catch (error) {
        return error instanceof Error && error.name === 'CryptoError'
      }
    }),
    { numRuns: 500 },
  )
})
