import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  decodeBase64url,
  encodeBase64url,
  generateKeyPair,
  jwkThumbprint,
  type KeyPair,
} from '@agent-exchange/crypto'
import fc from 'fast-check'
import {
  carriesIntroduction,
  introducedKeyId,
  isIntroducedBy,
  type Introduction,
} from './key-introduction.ts'

const about = { organizationId: 'org_acme', agentId: 'agent_planner', use: 'encryption' as const }
let introducer: KeyPair
let key: KeyPair
let keyId: string
let full: Introduction
before(async () => {
  introducer = await generateKeyPair('signing')
  key = await generateKeyPair('encryption')
  keyId = await introducedKeyId(introducer.privateKey, about, key.publicKey.jwk)
  full = { ...about, thumbprint: await jwkThumbprint(key.publicKey.jwk) }
})
const holds = (id: string, changes: Partial<Introduction> = {}, by = introducer) =>
  isIntroducedBy(by.publicKey, id, { ...full, ...changes })

test('a key id contains the introduction, within the limits of an exchange', async () => {
  assert.equal(keyId.length, 134)
  assert.ok(keyId.startsWith(`key_${full.thumbprint}.`))
  assert.ok(carriesIntroduction(keyId))
  assert.ok(await holds(keyId))
})

test('it is about one key of one agent for one use, by one introducer', async () => {
  const other = await generateKeyPair('signing')
  const thumbprint = await jwkThumbprint(other.publicKey.jwk)
  assert.ok(!(await holds(keyId, { organizationId: 'org_other' })))
  assert.ok(!(await holds(keyId, { agentId: 'agent_other' })))
  assert.ok(!(await holds(keyId, { use: 'signing' })))
  assert.ok(!(await holds(keyId, { thumbprint })))
  assert.ok(!(await holds(keyId, {}, other)))
  // A proof that was cut off one name and put behind another.
  assert.ok(!(await holds(keyId.replace(full.thumbprint, thumbprint), { thumbprint })))
})

test('ids of any other form introduce nobody', async () => {
  const [name = '', proof = ''] = keyId.split('.')
  const others = [
    name,
    `${name}.`,
    `${keyId}=`,
    `${keyId} `,
    `x${keyId}`,
    `${keyId}.${proof}`,
    'sig_acme',
    '',
  ]
  for (const id of others) {
    assert.ok(!carriesIntroduction(id), id)
    assert.ok(!(await holds(id)), id)
  }
  // The last character of 64 bytes has unused bits: only one spelling counts.
  const last = proof.at(-1) ?? ''
  const spellings = ['A', 'B', 'Q', 'R', 'g', 'h', 'w', 'x'].filter((letter) => letter !== last)
  for (const letter of spellings) assert.ok(!(await holds(`${name}.${proof.slice(0, -1)}${letter}`)))
})

test('a proof with any bit changed is none', async () => {
  const [name = '', proof = ''] = keyId.split('.')
  const bytes = decodeBase64url(proof)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 511 }), async (bit) => {
      const altered = Uint8Array.from(bytes, (byte, index) =>
        index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte,
      )
      assert.ok(!(await holds(`${name}.${encodeBase64url(altered)}`)))
    }),
    { numRuns: 60 },
  )
})
