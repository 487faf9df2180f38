import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPolicy, logKeyFingerprint } from './format-policy.ts'
import { parsePolicy } from './policy.ts'
import { noteSigner } from './sign-note.ts'
import { SIGNATURE_TYPE } from './verifier-key.ts'

const { ed25519, cosignature } = SIGNATURE_TYPE
const keyOf = async (name: string, type: typeof ed25519 | typeof cosignature, byte: number) =>
  (await noteSigner(name, type, new Uint8Array(32).fill(byte))).key
const log = await keyOf('log.example', ed25519, 1)

test('a written policy is read with the same keys and quorum', async () => {
  const witnesses = [await keyOf('w1.example', cosignature, 2), await keyOf('w2.example', cosignature, 3)]
  const policy = parsePolicy(formatPolicy({ logs: [log], witnesses, isConfirmed: true }))
  assert.equal(policy.isConfirmed, true)
  assert.deepEqual(
    policy.logs.map(({ key }) => key),
    [log],
  )
  assert.deepEqual(
    policy.witnesses.map(({ key }) => key),
    witnesses,
  )
  assert.equal(policy.quorum?.kind === 'group' && policy.quorum.threshold, 2)
})

test('a policy whose key nobody compared says so', () => {
  const text = formatPolicy({ logs: [log], isConfirmed: false })
  const policy = parsePolicy(text)
  assert.deepEqual([policy.isConfirmed, policy.quorum], [false, undefined])
  assert.ok(text.includes(logKeyFingerprint(log)))
  assert.match(logKeyFingerprint(log), /^[A-Za-z0-9_-]{43}$/u)
})
