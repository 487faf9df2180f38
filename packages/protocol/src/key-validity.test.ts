import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encryptionKeyFault, judgeSigningKey, signingKeyFault } from './key-validity.ts'

const instant = fc.integer({ min: 0, max: 20 }).map((n) => new Date(Date.UTC(2026, 0, 1) + n).toISOString())
const at = (hour: number) => `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`

test('[ID-05] a key counts exactly where claim and arrival lie between its start and its end', () => {
  fc.assert(
    fc.property(
      instant,
      instant,
      instant,
      fc.option(instant, { nil: undefined }),
      fc.option(instant, { nil: undefined }),
      (valid_from, claimedAt, arrivedAt, invalid_from, revoked_at) => {
        const key = { use: 'signing', status: 'active', valid_from, invalid_from, revoked_at }
        const counts = [claimedAt, arrivedAt].every(
          (time) => time >= valid_from && (invalid_from === undefined || time < invalid_from),
        )
        assert.equal(signingKeyFault(key, { claimedAt, arrivedAt }) === undefined, counts)
        // A package receipt is judged by its arrival alone.
        const arrived = arrivedAt >= valid_from && (invalid_from === undefined || arrivedAt < invalid_from)
        assert.equal(signingKeyFault(key, { arrivedAt }) === undefined, arrived)
      },
    ),
  )
})

test('[ID-05] neither dating ahead nor backdating makes a key count', () => {
  const key = { use: 'signing', status: 'active', valid_from: at(5), invalid_from: at(9) }
  const verdicts = [
    [{ claimedAt: at(6), arrivedAt: at(4) }, 'not_yet_valid'],
    [{ claimedAt: at(4), arrivedAt: at(6) }, 'not_yet_valid'],
    [{ claimedAt: at(6), arrivedAt: at(9) }, 'revoked'],
    [{ claimedAt: at(9), arrivedAt: at(6) }, 'revoked'],
    [{ claimedAt: 'then', arrivedAt: at(6) }, 'not_yet_valid'],
    [{ claimedAt: at(5), arrivedAt: at(8) }, undefined],
  ] as const
  for (const [times, fault] of verdicts) assert.equal(signingKeyFault(key, times), fault)
  assert.equal(signingKeyFault({ ...key, use: 'encryption' }, { arrivedAt: at(6) }), 'not_a_signing_key')
})

test('[ID-05] a key that is revoked without a date never counted', () => {
  const key = { use: 'signing', status: 'revoked', valid_from: at(1) }
  assert.equal(signingKeyFault(key, { claimedAt: at(2), arrivedAt: at(2) }), 'revoked')
})

test('[ID-04][ID-05] a revocation that was recorded after the arrival differs from one that was known', () => {
  const judge = (recorded: number, arrived: number) =>
    judgeSigningKey(
      {
        use: 'signing',
        valid_from: at(1),
        cutoffs: [{ invalidFrom: at(5), recordedAt: at(recorded) }],
      },
      { arrivedAt: at(arrived) },
    ).code
  assert.equal(judge(8, 4), 'disowned_later')
  assert.equal(judge(8, 6), 'revoked_unrecorded')
  assert.equal(judge(4, 6), 'revoked')
})

test('[ID-05] an encryption key is judged at created_at; an end in the future does not end it today', () => {
  const key = { use: 'encryption', status: 'revoked', valid_from: at(2), invalid_from: at(6) }
  assert.equal(encryptionKeyFault(key, at(1)), 'not_yet_valid')
  assert.equal(encryptionKeyFault(key, at(2)), undefined)
  assert.equal(encryptionKeyFault(key, at(5)), undefined)
  assert.equal(encryptionKeyFault(key, at(6)), 'revoked')
  const { invalid_from: _, ...undated } = key
  assert.equal(encryptionKeyFault(undated, at(3)), 'revoked')
  assert.equal(encryptionKeyFault({ ...undated, status: 'retired' }, at(3)), 'retired')
  assert.equal(encryptionKeyFault({ ...undated, status: 'retiring' }, at(3)), undefined)
  assert.equal(encryptionKeyFault({ ...key, use: 'signing' }, at(3)), 'not_an_encryption_key')
})
