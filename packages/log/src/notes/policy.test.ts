import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMUM_POLICY_ITEMS, parsePolicy } from './policy.ts'
import { evaluateQuorum } from './quorum.ts'
import { noteSigner } from './sign-note.ts'
import { formatVerifierKey, SIGNATURE_TYPE, type VerifierKey } from './verifier-key.ts'

const { ed25519, cosignature } = SIGNATURE_TYPE
const keyOf = async (name: string, type: VerifierKey['type'], byte: number) =>
  (await noteSigner(name, type, new Uint8Array(32).fill(byte))).key
const log = formatVerifierKey(await keyOf('log.example', ed25519, 1))
const keys = await Promise.all(
  [11, 12, 13, 14, 15, 16].map((byte) => keyOf(`w${byte}.example`, cosignature, byte)),
)
const [a, b, c, d, e, f] = keys.map(formatVerifierKey)

/** The example of C2SP tlog-policy, with keys. */
const EXAMPLE = `log ${log} https://log.example/

# Two of one company, and one of another.
witness X1 ${a}
witness X2 ${b}
\twitness  X3\t${c}  https://x3.example/
group X-witnesses 2 X1 X2 X3

witness Y1 ${d}
witness Y2 ${e}
witness Y3 ${f}
group Y-witnesses any Y1 Y2 Y3

group X-and-Y all X-witnesses Y-witnesses
quorum X-and-Y
`

const signedBy = (...indexes: number[]) =>
  indexes.map((index) => ({ key: keys[index] as VerifierKey, time: 100 + index }))

test('the quorum of the example: two of X and one of Y', () => {
  const policy = parsePolicy(EXAMPLE)
  assert.deepEqual(
    [policy.logs.length, policy.witnesses.length, policy.logs[0]?.url],
    [1, 6, 'https://log.example/'],
  )
  const met = (...indexes: number[]) => evaluateQuorum(policy, signedBy(...indexes)).isMet
  for (const enough of [
    [0, 1, 3],
    [1, 2, 5],
    [0, 1, 2, 3, 4, 5],
  ])
    assert.equal(met(...enough), true)
  for (const few of [[], [0, 1], [0, 3], [0, 3, 4, 5], [0, 0, 3]]) assert.equal(met(...few), false)
  assert.deepEqual(parsePolicy(new TextEncoder().encode(EXAMPLE)), policy)
})

test('times of a quorum are those at which enough witnesses had cosigned', () => {
  const policy = parsePolicy(`witness a ${a}\nwitness b ${b}\nwitness c ${c}\ngroup q 2 a b c\nquorum q\n`)
  const [one, two, three] = keys as [VerifierKey, VerifierKey, VerifierKey]
  const signatures = [
    { key: one, time: 50 },
    { key: one, time: 900 },
    { key: two, time: 70 },
    { key: three, time: 80 },
  ]
  const { seenBy, newestAt, cosignatures, of } = evaluateQuorum(policy, signatures)
  assert.deepEqual([seenBy, newestAt, cosignatures.length, of], [70, 80, 3, 3])
})

test('without a quorum nothing counts as witnessed', () => {
  const policy = parsePolicy(`witness a ${a}\nquorum none\n`)
  const { isMet, of, cosignatures } = evaluateQuorum(policy, signedBy(0))
  assert.deepEqual([isMet, of, cosignatures.length], [false, 0, 1])
  assert.equal(evaluateQuorum(parsePolicy(`witness a ${a}\nquorum a`), signedBy(0)).isMet, true)
})

const renamed = formatVerifierKey(await keyOf('renamed.example', cosignature, 11))
const wrong: [policy: string, code: string, line?: number][] = [
  ['', 'policy_quorum'],
  [`log ${log}\n`, 'policy_quorum'],
  ['quorum none\nquorum none\n', 'policy_quorum', 2],
  ['quorum nobody\n', 'policy_name', 1],
  [`quorum a\nwitness a ${a}\n`, 'policy_name', 1],
  ['quorum\n', 'policy_line', 1],
  ['quorum none none\n', 'policy_line', 1],
  ['trust none\n', 'policy_line', 1],
  ['log\n', 'policy_line', 1],
  [`log ${log} a b\n`, 'policy_line', 1],
  [`log ${log}\nlog ${log}\n`, 'policy_duplicate_key', 2],
  [`log ${a}\n`, 'key_type', 1],
  [`witness a ${log}\n`, 'key_type', 1],
  [`witness a ${a}\nwitness b ${renamed}\n`, 'policy_duplicate_key', 2],
  [`witness a ${a}\nwitness a ${b}\n`, 'policy_name', 2],
  [`witness none ${a}\n`, 'policy_name', 1],
  ['witness a key\n', 'key_malformed', 1],
  [`witness a ${a?.replace(/\+[0-9a-f]{8}\+/u, '+00000000+')}\n`, 'key_id', 1],
  [`witness a ${a}\ngroup g any\n`, 'policy_line', 2],
  [`witness a ${a}\ngroup g 0 a\n`, 'policy_threshold', 2],
  [`witness a ${a}\ngroup g 2 a\n`, 'policy_threshold', 2],
  [`witness a ${a}\ngroup g 01 a\n`, 'policy_threshold', 2],
  [`witness a ${a}\ngroup g any none\n`, 'policy_name', 2],
  [`witness a ${a}\ngroup g 2 a a\n`, 'policy_name', 2],
  [`witness a ${a}\ngroup g any a\ngroup h any a\n`, 'policy_name', 3],
  [`group g any g\n`, 'policy_name', 1],
  [`witness a ${a}\r\nquorum a\r\n`, 'policy_encoding'],
  ['quorum none\0\n', 'policy_encoding'],
  [`#${'x'.repeat(70_000)}\nquorum none\n`, 'policy_size'],
]

test('malformed policies are refused, with the line', () => {
  for (const [policy, code, line] of wrong) assert.throws(() => parsePolicy(policy), { code, line }, policy)
  assert.throws(() => parsePolicy(Uint8Array.of(0xff)), { code: 'policy_encoding' })
})

test('a policy has a limit on its items', async () => {
  const witnesses = await Promise.all(
    Array.from({ length: MAXIMUM_POLICY_ITEMS + 1 }, async (_, index) => {
      const key = await keyOf(`w${index}`, cosignature, 100 + index)
      return `witness w${index} ${formatVerifierKey(key)}`
    }),
  )
  const text = [...witnesses.slice(0, -1), 'quorum w0'].join('\n')
  assert.equal(parsePolicy(text).witnesses.length, MAXIMUM_POLICY_ITEMS)
  assert.throws(() => parsePolicy([...witnesses, 'quorum w0'].join('\n')), { code: 'policy_limit' })
})
