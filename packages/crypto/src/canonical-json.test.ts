import { test } from 'node:test'
import canonicalizeJson from 'canonicalize'
import fc from 'fast-check'
import { canonicalBytes, canonicalize } from './canonical-json.ts'
import { parseStrictJson } from './strict-json.ts'

test('RFC 8785 section 3.2.2: the sample object', (t) => {
  const input = String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`
  const expected = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`
  t.assert.equal(canonicalize(parseStrictJson(input)), expected)
  t.assert.deepEqual(canonicalBytes(parseStrictJson(input)), new TextEncoder().encode(expected))
})

test('RFC 8785 section 3.2.3: names sort by UTF-16 code units', (t) => {
  const input = String.raw`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh",
    "1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`
  const order = Object.values(JSON.parse(canonicalize(parseStrictJson(input))) as Record<string, string>)
  // "1" is an integer-like key, which JavaScript always lists first.
  t.assert.deepEqual(order.slice(1), [
    'Carriage Return',
    'Control',
    'Latin Small Letter O With Diaeresis',
    'Euro Sign',
    'Emoji: Grinning Face',
    'Hebrew Letter Dalet With Dagesh',
  ])
  t.assert.match(canonicalize(parseStrictJson(input)), /^\{"\\r":"Carriage Return","1":"One","\u0080":/)
})

test('RFC 8785 appendix B: numbers', (t) => {
  const table: [bits: string, text: string][] = [
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ]
  for (const [bits, text] of table) t.assert.equal(canonicalize(fromBits(bits)), text)
  for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000']) {
    t.assert.throws(() => canonicalize(fromBits(bits)), { code: 'json_not_representable' })
  }
})

function fromBits(hex: string): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, BigInt(`0x${hex}`))
  return view.getFloat64(0)
}

test('a value that JSON cannot represent is refused, not converted', (t) => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const refused: unknown[] = [
    undefined,
    1n,
    Symbol('s'),
    () => 1,
    [undefined],
    Array(2),
    { f: () => 1 },
    { toJSON: () => 'other' },
    new Date(0),
    new Map(),
    new Uint8Array(2),
    Object(1),
    { a: { '\ud800': 1 } },
    '\udc00',
    { [Symbol('s')]: 1 },
    cycle,
  ]
  for (const value of refused) t.assert.throws(() => canonicalize(value), { code: 'json_not_representable' })
  t.assert.equal(canonicalize({ a: undefined, b: 1 }), JSON.stringify({ a: undefined, b: 1 }))
  const shared = { x: 1 }
  t.assert.equal(canonicalize([shared, shared]), '[{"x":1},{"x":1}]')
})

test('canonicalization is idempotent, keeps the value and ignores the order of members', () => {
  const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' })
  fc.assert(
    fc.property(value, (json) => {
      const text = canonicalize(json)
      const shuffled = canonicalize(reversed(json))
      return text === shuffled && canonicalize(JSON.parse(text)) === text
    }),
    { numRuns: 300 },
  )
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, reversed(member)])
      .toReversed(),
  )
}

test('RFC 8785: our implementation and a library agree on every value, including integer-like names', (t) => {
  const names = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 4 }),
    fc.constantFrom(
      '1',
      '10',
      '2',
      '01',
      '-1',
      '4294967295',
      '__proto__',
      'constructor',
      'toJSON',
      '',
      '\r',
      '\u0080',
    ),
  )
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.dictionary(names, tie('tree'), { maxKeys: 6, noNullPrototype: false }),
      fc.array(tie('tree'), { maxLength: 4 }),
    ),
  }))
  fc.assert(
    fc.property(tree, (value) => {
      // Only JSON.parse creates a member named __proto__.
      const parsed: unknown = JSON.parse(JSON.stringify(value))
      t.assert.equal(canonicalize(parsed), canonicalizeJson(parsed))
    }),
  )
  const hostile: unknown = JSON.parse('{"b":1,"__proto__":{"x":1},"\\r":2,"10":3,"9":4}')
  t.assert.equal(canonicalize(hostile), '{"\\r":2,"10":3,"9":4,"__proto__":{"x":1},"b":1}')
})
