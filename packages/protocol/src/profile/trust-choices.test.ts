import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProfile, DEFAULT_PROFILE } from './profile.ts'
import { createTrust, judgingProfile, TRUST_CHOICE_IDS } from './trust-choices.ts'

test('[O-47] what an exchange publishes about trust changes nothing for a judge, stricter or looser', () => {
  const published = createProfile({
    'O-17': { content_digest_rules: ['ciphertext-bytes'] },
    'O-46': { opened_by: 'organization' },
    'O-47': { verifying: 'directory', sealing: 'directory' },
    'O-14': { request_bytes: 4_096 },
  })
  const own = createTrust({ 'O-47': { verifying: 'strict' } })
  assert.ok(published.ok && own.ok)
  const judged = judgingProfile(published.profile, own.profile)
  assert.equal(judged['O-14'].request_bytes, 4_096)
  assert.deepEqual(judged['O-47'], { verifying: 'strict', sealing: 'introduced' })
  for (const id of TRUST_CHOICE_IDS) if (id !== 'O-47') assert.deepEqual(judged[id], DEFAULT_PROFILE[id])
})

test('[O-47] a judge sets what it trusts, and nothing that the exchange decides', () => {
  const wrong = createTrust({ 'O-14': { request_bytes: 4_096 }, 'O-47': { verifying: 'logged' } })
  assert.ok(!wrong.ok)
  assert.deepEqual(
    wrong.failures.map(({ pointer }) => pointer),
    ['/O-14'],
  )
  assert.equal(createTrust({ 'O-47': { verifying: 'always' } }).ok, false)
  assert.equal(createTrust({}).ok, true)
})
