import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listChanges } from '../people/administration-record.ts'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { openPasskeys } from './passkeys.ts'
import { findRelyingParty } from './relying-party.ts'
import { softwareAuthenticator } from './software-authenticator.fixture.ts'

const PARTY = { origin: 'https://gateway.company.example', rpId: 'gateway.company.example' }
const KEY = new Uint8Array(32).fill(5)
const START = new Date('2026-11-18T09:00:00.000Z')

async function desk() {
  const database = await gatewayDatabase()
  let now = START
  const passkeys = openPasskeys({
    db: database.db,
    publicUrl: PARTY.origin,
    now: () => now,
    signInKey: KEY,
  })
  const ida = { personId: 'person_ida', name: 'Ida Berg', signedInAt: START, signedInBy: 'link' as const }
  return {
    db: database.db,
    passkeys,
    ida,
    later: (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000)),
    async registered(key = softwareAuthenticator(PARTY)) {
      await passkeys.register(ida, 'Laptop', key.create(await passkeys.registrationOptions(ida)))
      return key
    },
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

test('a person registers a passkey, signs in with it, and removes it', async () => {
  await using at = await desk()
  const { passkeys, ida } = at
  const key = await at.registered()
  const [listed] = await passkeys.list(ida.personId)
  assert.equal(listed?.passkeyId, key.credentialId)
  assert.equal(listed?.registeredAt, START.toISOString())
  const options = await passkeys.signInOptions()
  assert.equal(options.userVerification, 'required')
  const answer = key.get(options)
  assert.deepEqual(await passkeys.signIn(answer), { personId: ida.personId })
  await assert.rejects(passkeys.signIn(answer), { code: 'challenge_unknown' }, 'a replay')
  assert.equal(await passkeys.remove('person_other', key.credentialId), false)
  assert.equal(await passkeys.remove(ida.personId, key.credentialId), true)
  assert.deepEqual(
    (await listChanges(at.db)).rows.map(({ action, target, actor, details }) => [
      action,
      target,
      actor.id,
      details,
    ]),
    [
      ['passkey.remove', key.credentialId, ida.personId, {}],
      [
        'passkey.add',
        key.credentialId,
        ida.personId,
        { name: 'Laptop', signed_in_by: 'link', signed_in_at: START.toISOString() },
      ],
    ],
  )
  await assert.rejects(passkeys.signIn(key.get(await passkeys.signInOptions())), { code: 'passkey_unknown' })
})

test('a registration needs a sign-in of the last ten minutes', async () => {
  await using at = await desk()
  const options = await at.passkeys.registrationOptions(at.ida)
  at.later(601)
  await assert.rejects(at.passkeys.registrationOptions(at.ida), { code: 'sign_in_not_fresh' })
  const answer = softwareAuthenticator(PARTY).create(options)
  await assert.rejects(at.passkeys.register(at.ida, 'Laptop', answer), { code: 'sign_in_not_fresh' })
})

test('a registration or sign-in with a forged answer is refused', async () => {
  await using at = await desk()
  const { passkeys, ida } = at
  const forgeries = [
    { origin: 'https://gateway.company.example.evil.example' },
    { rpId: 'evil.example' },
    { userVerified: false },
    { userPresent: false },
  ]
  for (const forgery of forgeries) {
    const answer = softwareAuthenticator(PARTY).create(await passkeys.registrationOptions(ida), forgery)
    await assert.rejects(passkeys.register(ida, 'Laptop', answer), { code: 'passkey_invalid' })
  }
  const key = await at.registered()
  await passkeys.signIn(key.get(await passkeys.signInOptions(), { counter: 7 }))
  for (const forgery of [...forgeries, { counter: 7 }, { type: 'webauthn.create' }]) {
    const answer = key.get(await passkeys.signInOptions(), { counter: 8, ...forgery })
    await assert.rejects(passkeys.signIn(answer), { code: 'passkey_invalid' }, JSON.stringify(forgery))
  }
  await assert.rejects(passkeys.signIn({ id: 'x' }), { code: 'answer_malformed' })
  const late = key.get(await passkeys.signInOptions(), { counter: 9 })
  at.later(360)
  await assert.rejects(passkeys.signIn(late), { code: 'challenge_unknown' }, 'six minutes later')
})

test('whoever asks for a sign-in stores nothing, and a challenge of somebody else is refused', async () => {
  await using at = await desk()
  const key = await at.registered()
  const stored = async () => (await at.db`select from passkey_challenge`).length
  const before = await stored()
  const options = await at.passkeys.signInOptions()
  assert.equal(await stored(), before)
  const other = openPasskeys({
    db: at.db,
    publicUrl: PARTY.origin,
    now: () => START,
    signInKey: new Uint8Array(32).fill(6),
  })
  const bytes = Buffer.from(options.challenge, 'base64url')
  const later = Buffer.from(bytes)
  later.writeBigUInt64BE(later.readBigUInt64BE(16) + 1n, 16)
  const forged = [
    (await other.signInOptions()).challenge,
    later.toString('base64url'),
    `${options.challenge}=`,
    Buffer.alloc(bytes.length).toString('base64url'),
    'x',
  ]
  for (const challenge of forged)
    await assert.rejects(at.passkeys.signIn(key.get({ challenge })), { code: 'challenge_unknown' }, challenge)
  await at.passkeys.signIn(key.get(options))
  await assert.rejects(at.passkeys.signIn(key.get(options)), { code: 'challenge_unknown' }, 'signed twice')
})

test('a passkey is registered once, and its challenge belongs to one person', async () => {
  await using at = await desk()
  const { passkeys, ida } = at
  const key = await at.registered()
  await assert.rejects(at.registered(key), { code: 'passkey_exists' })
  const eve = { ...ida, personId: 'person_eve' }
  const answer = softwareAuthenticator(PARTY).create(await passkeys.registrationOptions(ida))
  await assert.rejects(passkeys.register(eve, 'Laptop', answer), { code: 'challenge_unknown' })
  await assert.rejects(passkeys.register(ida, ' ', answer), { code: 'passkey_name' })
})

test('an address without a host name or without https has no passkeys, and a sentence says what to do', async () => {
  for (const url of ['http://127.0.0.1:8090', 'https://[::1]:8090', 'http://gateway.company.example'])
    assert.equal(findRelyingParty(url), undefined, url)
  assert.deepEqual(findRelyingParty('http://localhost:8090'), {
    id: 'localhost',
    origin: 'http://localhost:8090',
  })
  await using at = await desk()
  const none = openPasskeys({ db: at.db, publicUrl: 'https://10.0.0.5', now: () => START, signInKey: KEY })
  assert.equal(none.isAvailable, false)
  await assert.rejects(none.signInOptions(), /Set AEX_GATEWAY_PUBLIC_URL/u)
})
