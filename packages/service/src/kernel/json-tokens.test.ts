import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { scanTokens, type TokenLimits } from './json-tokens.ts'

const NONE: TokenLimits = { depth: 99, items: 99, members: 99, values: 9_999, escapes: 999 }
const scan = (text: string, limits: Partial<TokenLimits> = {}) =>
  scanTokens(Buffer.from(text), { ...NONE, ...limits })

test('[O-14] lists, objects, values and depth are counted outside strings', () => {
  const members = '{"a":"1,2,3","b":"\\",\\"","c":"[{"}'
  assert.equal(scan(members, { members: 3, values: 4, depth: 1 }), undefined)
  assert.deepEqual(scan(members, { members: 2 })?.path, [])
  assert.equal(scan(members, { values: 3 })?.kind, 'size')
  assert.equal(scan('{"a":[ ],"b":{ }}', { items: 1, members: 2, values: 3, depth: 2 }), undefined)
  assert.equal(scan('{"a":[],"b":{}}', { values: 2 })?.kind, 'size')
  assert.deepEqual(scan('{"é":[[', { depth: 2 }), { kind: 'depth', offset: 6, path: [] })
  assert.deepEqual(scan('{"x":1,"keys":[0,{"y":[1,2,3]}]}', { items: 2 })?.path, ['keys', 1, 'y'])
  assert.deepEqual(scan(`{"${'n'.repeat(90)}\\"":[1,2,3]}`, { items: 2 })?.path, [`${'n'.repeat(90)}"`])
})

test('[O-14] escape sequences are counted, in short and long strings', () => {
  const long = 'x'.repeat(500)
  for (const text of [`"a\\"b"`, `"${long}\\"${long}"`, `"${long}\\\\"`, `["${long}","\\u00e9"]`]) {
    assert.equal(scan(text, { escapes: 1 }), undefined, text)
    assert.equal(scan(text, { escapes: 0 })?.kind, 'size', text)
  }
  assert.equal(scan(`"${'\\"'.repeat(500)}"`, { escapes: 499 })?.kind, 'size')
})

test('[O-14] a long string is searched for its end once, whatever escape sequences it has', (t) => {
  const search = t.mock.method<Buffer, 'indexOf'>(Buffer.prototype, 'indexOf')
  const text = Buffer.from(`"${`\\n${'x'.repeat(5_000)}`.repeat(50)}"`)
  assert.equal(scanTokens(text, NONE), undefined)
  const searched = search.mock.calls.filter((call) => call.arguments[0] === 0x22)
  assert.equal(searched.length, 1)
})

test('[O-14] the counts are those of the parsed value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const { depth, items, members, values } = sizeOf(JSON.parse(text))
      assert.equal(scan(text, { depth, items, members, values }), undefined)
      assert.ok(scan(text, { values: values - 1 }))
      if (depth > 0) assert.equal(scan(text, { depth: depth - 1 })?.kind, 'depth')
      if (items > 1) assert.equal(scan(text, { items: items - 1 })?.kind, 'size')
      if (members > 1) assert.equal(scan(text, { members: members - 1 })?.kind, 'size')
    }),
    { numRuns: 300 },
  )
})

test('text that is not JSON is left to the parser', () => {
  for (const text of ['', '"', '"\\', ']]]', '{]', ',,,,', '[1,2', '{"a" "b"}', '\u0000', '["\\\\\\"'])
    assert.equal(scan(text), undefined, text)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      scanTokens(bytes, { depth: 3, items: 3, members: 3, values: 9, escapes: 3 })
    }),
    { numRuns: 300 },
  )
})

function sizeOf(value: unknown): Omit<TokenLimits, 'escapes'> {
  if (typeof value !== 'object' || value === null) return { depth: 0, items: 0, members: 0, values: 1 }
  const inner: unknown[] = Object.values(value)
  const own = Array.isArray(value) ? { items: inner.length, members: 0 } : { items: 0, members: inner.length }
  return inner.map(sizeOf).reduce(
    (sum, one) => ({
      depth: Math.max(sum.depth, one.depth + 1),
      items: Math.max(sum.items, one.items),
      members: Math.max(sum.members, one.members),
      values: sum.values + one.values,
    }),
    { depth: 1, values: 1, ...own },
  )
}
