import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, signDetached } from '@agent-exchange/crypto'
import { PACKAGE_HEAD_TYPE, verifyPackageHead } from './package-head.ts'

const stated = {
  type: PACKAGE_HEAD_TYPE,
  package_id: 'pkg_1',
  thread_id: 'thread_1',
  position: 4,
  link: '07'.repeat(32),
  log: { origin: 'exchange.example', size: 9 },
  stated_at: '2026-03-01T00:00:00.000Z',
} as const

test('[AUD-03] a head statement holds for the key that signed it, and for no other content', async () => {
  const { privateKey, publicKey } = await generateKeyPair('signing')
  const signature = await signDetached(stated, { member: 'signature', key: privateKey, keyId: 'key_1' })
  const head = { ...stated, signature }
  await verifyPackageHead(head, publicKey)
  const changes = [
    { package_id: 'pkg_2' },
    { thread_id: 'thread_2' },
    { position: 3 },
    { link: '08'.repeat(32) },
    { log: { origin: 'exchange.example', size: 8 } },
    { log: { origin: 'other.example', size: 9 } },
    { stated_at: '2026-03-02T00:00:00.000Z' },
  ]
  for (const change of changes)
    await assert.rejects(verifyPackageHead({ ...head, ...change }, publicKey), { code: 'signature_mismatch' })
  const stranger = await generateKeyPair('signing')
  await assert.rejects(verifyPackageHead(head, stranger.publicKey), { code: 'signature_mismatch' })
})
