import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@agent-exchange/protocol'
import { anyText } from '@agent-exchange/testkit/any-text'
import fc from 'fast-check'
import { ExchangeError } from '../errors.ts'
import { operationAddress, readBaseAddress } from './exchange-addresses.ts'
import { retryAfterOf } from './answers.ts'

const base = readBaseAddress('https://exchange.example/prefix/')

test('whatever an id holds, it stays one segment of the path', () => {
  const id = fc.oneof(anyText, fc.string(), fc.constantFrom('..', '.', '', '%2e%2e', 'a/b'))
  fc.assert(
    fc.property(id, (value) => {
      let address: string
      try {
        address = operationAddress(base, operations.revokePackage, { package_id: value }, {})
      } catch (error) {
        return error instanceof ExchangeError && error.code === 'input_invalid'
      }
      const url = new URL(address)
      const [empty, prefix, version, packages, segment = '', revoke, ...more] = url.pathname.split('/')
      assert.deepEqual(
        [url.origin, empty, prefix, version, packages, revoke, more, url.search, url.hash],
        ['https://exchange.example', '', 'prefix', 'v1', 'packages', 'revoke', [], '', ''],
      )
      assert.equal(decodeURIComponent(segment), value)
      return true
    }),
  )
})

test('queries hold what was given, and nothing for what was not', () => {
  const query = { after: 'a&b=c', limit: 5, other: undefined }
  assert.equal(
    operationAddress(base, operations.listNotifications, {}, query),
    'https://exchange.example/prefix/v1/notifications?after=a%26b%3Dc&limit=5',
  )
})

test('Retry-After is seconds or a date, and never negative', () => {
  const now = new Date('2026-03-01T09:00:00.000Z')
  assert.equal(retryAfterOf('120', now), 120)
  assert.equal(retryAfterOf('Sun, 01 Mar 2026 09:00:30 GMT', now), 30)
  assert.equal(retryAfterOf('Sun, 01 Mar 2026 08:00:00 GMT', now), 0)
  for (const other of [null, '', '-1', '1.5', 'soon', '2026-03-01T10:00:00Z', '9'.repeat(40)]) {
    assert.equal(retryAfterOf(other, now), undefined)
  }
})
