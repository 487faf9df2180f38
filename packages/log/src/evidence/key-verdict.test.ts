import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import type { KeyRecord } from './evidence-bundle.ts'
import { Checks } from '../verdict/check.ts'
import { reportOf } from './evidence-report.ts'
import { createKeyRing } from './key-ring.ts'
import { judgeKey } from './key-verdict.ts'

const at = (hour: number) => `2026-03-01T${String(hour).padStart(2, '0')}:00:00Z`
const { publicKey } = await generateKeyPair('signing')

const KEY = {
  key_id: 'key_a',
  use: 'signing',
  format: 'jwk',
  public_key: publicKey.jwk as KeyRecord['key']['public_key'],
  valid_from: at(1),
  status: 'active',
  registered_at: at(1),
} as const

async function ring(change: Partial<KeyRecord['key']>, events?: KeyRecord['events']) {
  const checks = new Checks()
  const record = {
    organization_id: 'org_a',
    agent_id: 'agent_a',
    key: { ...KEY, ...change },
    ...(events && { events }),
  }
  const bundle = {
    format: 'aex-evidence/1',
    thread_id: 'thread_a',
    entries: [],
    packages: [],
    keys: [record],
  } as const
  const [key] = (await createKeyRing(bundle, checks)).all
  assert.ok(key)
  return { key, report: reportOf(checks, []) }
}

const revoked = (recordedAt: number, invalidFrom: number) => ({
  kind: 'revoked',
  recorded_at: at(recordedAt),
  details: { invalid_from: at(invalidFrom) },
})

test('[ID-05] a signature counts between valid_from and invalid_from; a receipt is judged by arrival alone', async () => {
  const { key } = await ring({ status: 'revoked', invalid_from: at(5), revoked_at: at(6) }, [revoked(6, 5)])
  const verdicts = [
    [{ claimedAt: at(2), arrivedAt: at(3) }, 'disowned_later'],
    [{ claimedAt: at(0), arrivedAt: at(3) }, 'not_yet_valid'],
    [{ arrivedAt: at(0) }, 'not_yet_valid'],
    [{ claimedAt: at(4), arrivedAt: at(5) }, 'revoked_unrecorded'],
    [{ claimedAt: at(4), arrivedAt: at(7) }, 'revoked'],
    [{ claimedAt: at(7), arrivedAt: at(4) }, 'revoked_unrecorded'],
    [{ claimedAt: 'never', arrivedAt: at(4) }, 'not_yet_valid'],
  ] as const
  for (const [times, said] of verdicts) assert.equal(judgeKey(key, times).values.key, said)
  const rotated = await ring({ valid_from: at(3) })
  assert.equal(judgeKey(rotated.key, { arrivedAt: at(4) }).result, 'holds')
  assert.equal(judgeKey(rotated.key, { claimedAt: at(2), arrivedAt: at(4) }).result, 'fails')
})

test('[ID-04] of several revocations the earliest cutoff counts, each from when it was recorded', async () => {
  const events = [revoked(2, 8), revoked(9, 4)]
  const { key, report } = await ring({ status: 'revoked', invalid_from: at(4), revoked_at: at(9) }, events)
  assert.equal(report.verdict, 'holds')
  assert.deepEqual(judgeKey(key, { arrivedAt: at(3) }).values, {
    key: 'disowned_later',
    invalid_from: at(4),
    recorded_at: at(9),
  })
  // After the second cutoff, before it was recorded.
  assert.equal(judgeKey(key, { arrivedAt: at(5) }).result, 'doubt')
  // The first was known, and had passed.
  assert.equal(judgeKey(key, { arrivedAt: at(8) }).values['invalid_from'], at(8))
  const hidden = await ring({ status: 'revoked', invalid_from: at(8), revoked_at: at(2) }, events)
  assert.equal(hidden.report.verdict, 'broken')
  assert.equal(judgeKey(hidden.key, { arrivedAt: at(5) }).result, 'doubt')
})

test('[ID-05] a key that is revoked without a date never counted', async () => {
  const { key } = await ring({ status: 'revoked' })
  assert.equal(judgeKey(key, { arrivedAt: at(2) }).result, 'fails')
})

test('[ID-04][ID-05] any three revocations are judged as if each were compared', async () => {
  const hours = [2, 4, 6]
  const each = hours.flatMap((recordedAt) => hours.map((invalidFrom) => ({ recordedAt, invalidFrom })))
  for (const first of each)
    for (const second of each)
      for (const third of each) {
        const all = [first, second, third]
        const cutoff = Math.min(...all.map(({ invalidFrom }) => invalidFrom))
        const events = all.map(({ recordedAt, invalidFrom }) => revoked(recordedAt, invalidFrom))
        const { key } = await ring({ invalid_from: at(cutoff), revoked_at: at(23) }, events)
        for (const hour of [1, 2, 3, 4, 5, 6, 7]) {
          const passed = all.filter(({ invalidFrom }) => invalidFrom <= hour)
          const isKnown = passed.some(({ recordedAt }) => recordedAt < hour)
          const { result } = judgeKey(key, { arrivedAt: at(hour) })
          assert.equal(result, isKnown ? 'fails' : passed.length > 0 ? 'doubt' : 'holds')
        }
      }
})

test('[ID-04] times of a revocation that cannot be read count against the key', async () => {
  const unreadable = { kind: 'revoked', recorded_at: 'then', details: { invalid_from: 'now' } }
  const { key } = await ring({}, [unreadable, revoked(9, 8)])
  assert.equal(judgeKey(key, { arrivedAt: at(2) }).result, 'fails')
})

test('[ID-04] a key with 2,000 revocations is judged 10,000 times within bounded work', async () => {
  const time = (second: number) => new Date(Date.UTC(2026, 2, 1, 2) + second * 1_000).toISOString()
  // Each was recorded later than the one before, and reaches further back.
  const events = Array.from({ length: 2_000 }, (_, place) => ({
    kind: 'revoked',
    recorded_at: time(10_000 + place),
    details: { invalid_from: time(2_000 - place) },
  }))
  const { key } = await ring({}, events)
  const start = performance.now()
  for (let count = 0; count < 10_000; count++)
    assert.equal(judgeKey(key, { arrivedAt: time(5_000) }).result, 'doubt')
  assert.ok(performance.now() - start < 10_000)
})
