import { sha256Digest } from '@agent-exchange/crypto'
import { utf8 } from '../profiles/profile.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

/** name, description, text, canonical text */
const VALID: [string, string, string, string][] = [
  [
    'rfc-8785-sample',
    'The sample of RFC 8785 section 3.2.2: numbers, escapes, literals and the order of members.',
    String.raw`{
  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`,
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  ],
  [
    'utf-16-order',
    'Names sort by UTF-16 code units, so an emoji (a surrogate pair) comes before U+FB33.',
    String.raw`{"\ufb33":1,"\ud83d\ude00":2,"\u20ac":3,"\u00f6":4,"1":5,"\r":6}`,
    '{"\\r":6,"1":5,"ö":4,"€":3,"😀":2,"\ufb33":1}',
  ],
  [
    'order-at-every-depth',
    'Members are ordered in every object; the order of an array is content and stays.',
    '{"b": [3, 1, {"z": 0, "a": 0}], "a": {"d": 1, "c": 2}}',
    '{"a":{"c":2,"d":1},"b":[3,1,{"a":0,"z":0}]}',
  ],
  [
    'names-by-prefix',
    'A name sorts before any longer name that it begins.',
    '{"ab":1,"a":2}',
    '{"a":2,"ab":1}',
  ],
  ['negative-zero', 'Negative zero is written as zero.', '[-0, -0.0]', '[0,0]'],
  [
    'largest-plain',
    'Below 10^21 a number has no exponent.',
    '[999999999999999900000]',
    '[999999999999999900000]',
  ],
  ['smallest-exponent', 'From 10^21 on it has one.', '[1e21, 1000000000000000000000]', '[1e+21,1e+21]'],
  ['small-numbers', 'The exponent starts below 10^-6.', '[0.000001, 0.0000001]', '[0.000001,1e-7]'],
  [
    'extremes',
    'The largest double and the smallest.',
    '[1.7976931348623157e308, 5e-324]',
    '[1.7976931348623157e+308,5e-324]',
  ],
  [
    'integer-as-fraction',
    'A fraction of zero and an exponent leave no trace.',
    '[1.0, 1e2, 0.5e1]',
    '[1,100,5]',
  ],
  [
    'escapes',
    'Control characters have the short escape where JSON has one; the slash and U+007F have none.',
    String.raw`["\b\t\n\f\r\u0001\u001f\u007f\/\"\\"]`,
    `["\\b\\t\\n\\f\\r\\u0001\\u001f\u007f/\\"\\\\"]`,
  ],
  [
    'no-normalization',
    'Composed and decomposed forms stay two different strings.',
    String.raw`["\u00e9","e\u0301"]`,
    '["\u00e9","e\u0301"]',
  ],
  ['scalar', 'A bare value has a canonical form as well.', ' "text" ', '"text"'],
  ['empty', 'Empty containers.', '{ "o" : { } , "a" : [ ] }', '{"a":[],"o":{}}'],
]

/** name, description, text, rule, code */
const INVALID: [string, string, string, string, string][] = [
  [
    'duplicate-member',
    'One name twice in one object.',
    '{"a":1,"a":2}',
    'RFC 7493 section 2.3',
    'json_duplicate_member',
  ],
  [
    'duplicate-member-escaped',
    'One name twice, once escaped: names are compared after unescaping.',
    String.raw`{"alg":1,"\u0061lg":2}`,
    'RFC 7493 section 2.3',
    'json_duplicate_member',
  ],
  [
    'duplicate-member-deep',
    'The same below the top.',
    '[{"x":{"b":1,"b":1}}]',
    'RFC 7493 section 2.3',
    'json_duplicate_member',
  ],
  [
    'lone-high-surrogate',
    'An escaped high surrogate without its low one.',
    String.raw`["\ud800"]`,
    'RFC 7493 section 2.1',
    'json_lone_surrogate',
  ],
  [
    'lone-low-surrogate',
    'A low surrogate alone, in a name.',
    String.raw`{"\udc00":1}`,
    'RFC 7493 section 2.1',
    'json_lone_surrogate',
  ],
  ['overflow', 'A number beyond the range of a double.', '[1e999]', 'RFC 7493 section 2.2', 'json_number'],
  ['underflow', 'A number that a double turns into zero.', '[1e-999]', 'RFC 7493 section 2.2', 'json_number'],
  [
    'imprecise-integer',
    'An integer that a double turns into another one, 2^53 + 1.',
    '[9007199254740993]',
    'RFC 7493 section 2.2',
    'json_number',
  ],
  [
    'byte-order-mark',
    'A byte order mark in front.',
    '\ufeff{}',
    'RFC 8259 section 8.1',
    'json_byte_order_mark',
  ],
  ['trailing-comma', 'A comma with nothing after it.', '[1,]', 'RFC 8259 section 5', 'json_syntax'],
  ['leading-zero', 'A number with a leading zero.', '[01]', 'RFC 8259 section 6', 'json_syntax'],
  ['not-a-number', 'A literal that JSON does not have.', '[NaN]', 'RFC 8259 section 3', 'json_syntax'],
  ['two-values', 'Two values in one text.', '{}{}', 'RFC 8259 section 2', 'json_syntax'],
  ['raw-control-character', 'A line break inside a string.', '["a\nb"]', 'RFC 8259 section 7', 'json_syntax'],
  ['empty-text', 'No value at all.', '', 'RFC 8259 section 2', 'json_syntax'],
  [
    'too-deep',
    'Thirty-three arrays in one another; this implementation reads thirty-two (open point O-14).',
    '['.repeat(33) + ']'.repeat(33),
    'O-14',
    'json_depth',
  ],
]

export async function canonicalJson(): Promise<Generated> {
  const accepted = VALID.map(async ([name, description, text, canonical]) =>
    valid(name, description, { text }, { canonical, digest: await sha256Digest(utf8(canonical)) }),
  )
  const notUtf8 = invalid(
    'not-utf-8',
    'Bytes that are no UTF-8; the input is given as `bytes`.',
    { bytes: base64url(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d)) },
    { rule: 'RFC 8259 section 8.1', code: 'json_encoding' },
  )
  return {
    profile: 'canonical-json',
    description: 'JSON text to its RFC 8785 form. What two readers could understand differently is refused.',
    references: ['RFC 8785', 'RFC 7493', 'RFC 8259', 'O-14'],
    vectors: [
      ...(await Promise.all(accepted)),
      ...INVALID.map(([name, description, text, rule, code]) =>
        invalid(name, description, { text }, { rule, code }),
      ),
      notUtf8,
    ],
  }
}
