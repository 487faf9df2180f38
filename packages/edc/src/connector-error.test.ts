import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CONNECTOR_ERROR_CODES, ConnectorError } from './connector-error.ts'

test('every code has a hint, and the message has what, the likely cause and the hint', () => {
  for (const code of CONNECTOR_ERROR_CODES) assert.ok(new ConnectorError(code).hint.length > 15, code)
  const { message, hint } = new ConnectorError('conflict', {
    what: 'It is there.',
    likelyCause: 'Likely a twin.',
  })
  assert.equal(message, `It is there. Likely a twin. ${hint}`)
})

test('what a connector says is shortened, and tokens in it are masked', () => {
  const token = `eyJhbGciOiJFUzI1NiJ9.${'a'.repeat(40)}.${'b'.repeat(40)}`
  for (const text of [
    `failed with ${token}`,
    `Authorization: ${token}`,
    `"authCode":"s3cret-value"`,
    'Bearer abc.def',
  ]) {
    const { errorDetail = '', message } = new ConnectorError('bad_answer', { errorDetail: text, what: text })
    for (const secret of ['aaaa', 'bbbb', 's3cret-value', 'abc.def'])
      assert.ok(!errorDetail.includes(secret) && !message.includes(secret), errorDetail)
  }
  assert.equal(new ConnectorError('bad_answer', { errorDetail: 'x'.repeat(5_000) }).errorDetail?.length, 600)
})
