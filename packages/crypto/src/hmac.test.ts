import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hmacSha256 } from './hmac.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('HMAC-SHA-256 (RFC 4231, test cases 2 and 6)', (t) => {
  const hex = (mac: Uint8Array) => Buffer.from(mac).toString('hex')
  t.assert.equal(
    hex(hmacSha256(bytes('Jefe'), bytes('what do ya want for nothing?'))),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  const longKey = new Uint8Array(131).fill(0xaa)
  t.assert.equal(
    hex(hmacSha256(longKey, bytes('Test Using Larger Than Block-Size Key - Hash Key First'))),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  )
})

test('HMAC-SHA-256 is that of node:crypto for keys and data of any length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 130 }), fc.uint8Array({ maxLength: 200 }), (key, data) => {
      const expected = createHmac('sha256', key).update(data).digest()
      return Buffer.compare(expected, hmacSha256(key, data)) === 0
    }),
  )
})
