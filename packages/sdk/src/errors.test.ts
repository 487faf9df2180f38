import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXCHANGE_ERROR_CODES, ExchangeError } from './errors.ts'

const problem = {
  type: 'https://exchange.example/problems/policy-receipt-mismatch',
  title: 'The policy receipt covers something else',
  status: 409,
  code: 'policy_receipt_mismatch',
  correlation_id: 'corr_1',
  retryable: false,
  details: { members: ['content_digest'] },
} as const

test('[ERR-01] the message alone says what happened: the first failure, and the problem with its code and details', () => {
  const { message, what, hint } = new ExchangeError('object_invalid', {
    what: 'It was not sent.',
    failures: [
      { pointer: '/object/confidence/score', rule: 'OBJ-11', message: 'must be <= 1' },
      { pointer: '/object/facts', rule: 'OBJ-05', message: 'must NOT have fewer than 1 items' },
    ],
  })
  assert.equal(
    message,
    `It was not sent. /object/confidence/score: must be <= 1 [OBJ-11] And 1 more. ${hint}`,
  )
  assert.equal(what, 'It was not sent.')
  const refused = new ExchangeError('exchange_refused', { problem })
  assert.match(
    refused.message,
    /^The exchange says policy_receipt_mismatch: The policy receipt covers something else/,
  )
  assert.match(refused.message, /\{"members":\["content_digest"\]\} \(correlation id corr_1\)\./)
})

test('a message stays one line of bounded length', () => {
  const details = { text: `a\n${'x'.repeat(10_000)}` }
  const { message } = new ExchangeError('exchange_refused', { problem: { ...problem, details } })
  assert.ok(message.length < 1_000)
  assert.ok(!message.includes('\n'))
  assert.equal(new ExchangeError('aborted').message, new ExchangeError('aborted').hint)
})

/** The verbs of the hints. A sentence, or a part after a semicolon or comma, that begins with one says what to do. */
const INSTRUCTION =
  /(?:^|[.;,] (?:and |or )?)(?:Ask|Call|Change|Check|Choose|Compare|Continue|Copy|Correct|Create|Discard|Do not|End|Enter|Have|Inform|Keep|List|Make|Name|Open|Pass|Read|Register|Replace|Restore|Restrict|Send|Set|Show|Try|Use|ask|change|correct|inform|pass|send|show)\b/u

test('[ERR-01] the hint of every code says what to do', () => {
  const silent = EXCHANGE_ERROR_CODES.filter((code) => !INSTRUCTION.test(new ExchangeError(code).hint))
  assert.deepEqual(silent, [])
})
