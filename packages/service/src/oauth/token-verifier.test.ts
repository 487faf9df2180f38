import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { generateKeyPair, type PrivateJwk } from '@agent-exchange/crypto'
import { importJWK, type JWTHeaderParameters, SignJWT } from 'jose'
import type { Clock } from '@agent-exchange/server/clock'
import type { TokenKey } from '../platform-keys/token-keys.ts'
import { Problem } from '../kernel/problem.ts'
import { bearerChallenge } from './challenge.ts'
import { protectedResourceMetadata } from './metadata.ts'
import { profileOf } from './oauth-world.fixture.ts'
import { embeddedIssuer } from './token-keys.ts'
import { createTokenVerifier } from './token-verifier.ts'

const publicUrl = 'https://exchange.example'
const START = 1_767_225_600

async function newKey(keyId: string): Promise<TokenKey & { readonly privateJwk: PrivateJwk }> {
  const { publicKey, privateKey, privateJwk } = await generateKeyPair('signing')
  return { keyId, publicJwk: publicKey.jwk, sign: privateKey.sign, privateJwk }
}

const key = await newKey('key_1')

const GOOD = {
  iss: publicUrl,
  aud: publicUrl,
  sub: 'client_1',
  client_id: 'client_1',
  organization_id: 'org_a',
  iat: START,
  exp: START + 300,
  jti: 'x',
}

async function tokenOf(
  changes: Record<string, unknown> = {},
  header: Partial<JWTHeaderParameters> = {},
  signer = key,
): Promise<string> {
  return new SignJWT({ ...GOOD, ...changes })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key_1', ...header })
    .sign(await importJWK({ ...signer.privateJwk }, 'ES256'))
}

function verifierAt(startSeconds = START) {
  let seconds = startSeconds
  const clock: Clock = {
    now: () => new Date(seconds * 1_000).toISOString(),
    monotonicMilliseconds: () => 0,
  }
  let keys: TokenKey[] = [key]
  const issuer = embeddedIssuer(publicUrl, async () => {
    return { keys, version: keys.map(({ keyId }) => keyId).join() }
  })
  let lookups = 0
  const counted: typeof issuer = {
    ...issuer,
    keyOf: (header, token) => {
      lookups++
      return issuer.keyOf(header, token)
    },
  }
  return {
    verify: createTokenVerifier({ issuer: counted, publicUrl, profile: profileOf(), clock }),
    setKeys: (next: TokenKey[]) => (keys = next),
    moveTo: (time: number) => {
      seconds = time
    },
    lookups: () => lookups,
  }
}

const hmac = (input: string) =>
  createHmac('sha256', JSON.stringify(key.publicJwk)).update(input).digest('base64url')

async function problemOf(verification: Promise<unknown>): Promise<[string, unknown]> {
  try {
    await verification
  } catch (error) {
    assert.ok(error instanceof Problem)
    return [error.code, error.details['reason']]
  }
  return assert.fail('the token was accepted')
}

test('[AUTH-01][API-08] a token names its organization, client and agent', async () => {
  const { verify } = verifierAt()
  const expected = { organizationId: 'org_a', clientId: 'client_1' }
  const { caller } = await verify(`Bearer ${await tokenOf()}`, undefined)
  assert.deepEqual(caller, { ...expected, agentId: undefined })
  const bound = await tokenOf({ agent_id: 'agent_1' })
  assert.deepEqual((await verify(`bearer ${bound}`, undefined)).caller, { ...expected, agentId: 'agent_1' })
})

test('[AUTH-01][API-08] a missing token and a malformed header are two problems', async () => {
  const { verify } = verifierAt()
  const token = await tokenOf()
  for (const header of [undefined, '']) {
    assert.equal((await problemOf(verify(header, undefined)))[0], 'access_token_missing')
  }
  for (const header of [
    token,
    `Basic ${token}`,
    `Bearer ${token} x`,
    'Bearer',
    'Bearer a b',
    `Bearer,${token}`,
  ]) {
    assert.deepEqual(await problemOf(verify(header, undefined)), ['access_token_invalid', 'malformed'])
  }
  const long = `Bearer ${'a'.repeat(10_000)}`
  assert.deepEqual(await problemOf(verify(long, undefined)), ['access_token_invalid', 'too_long'])
})

test('[AUTH-01] every invalid token is refused with its reason', async (t) => {
  const { verify } = verifierAt()
  const [, payload = ''] = (await tokenOf()).split('.')
  const forged = (header: object, sign: (input: string) => string) => {
    const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}`
    return `${input}.${sign(input)}`
  }
  const bad: Record<string, [string, string]> = {
    expired: [await tokenOf({ iat: START - 400, exp: START - 31 }), 'expired'],
    'not valid yet': [await tokenOf({ nbf: START + 31 }), 'claim_nbf'],
    'of another issuer': [await tokenOf({ iss: 'https://other.example' }), 'claim_iss'],
    'for another audience': [await tokenOf({ aud: 'https://other.example' }), 'claim_aud'],
    'without audience': [await tokenOf({ aud: undefined }), 'claim_aud'],
    'without end': [await tokenOf({ exp: undefined }), 'claim_exp'],
    'without organization': [await tokenOf({ organization_id: undefined }), 'claim_organization_id'],
    'with a strange organization': [await tokenOf({ organization_id: 'a' }), 'claim_organization_id'],
    'with several organizations': [await tokenOf({ organization_id: ['org_a'] }), 'claim_organization_id'],
    'with a strange agent': [await tokenOf({ agent_id: null }), 'claim_agent_id'],
    'without client': [await tokenOf({ client_id: undefined }), 'claim_client_id'],
    'bound in a way we cannot check': [await tokenOf({ cnf: { jkt: 'x' } }), 'claim_cnf'],
    'bound to two things': [await tokenOf({ cnf: { 'x5t#S256': 'A'.repeat(43), jkt: 'x' } }), 'claim_cnf'],
    'of another type': [await tokenOf({}, { typ: 'JWT' }), 'claim_typ'],
    'by an unknown key': [await tokenOf({}, { kid: 'key_2' }, await newKey('key_2')), 'unknown_key'],
    'by another key under our name': [await tokenOf({}, {}, await newKey('key_1')), 'signature'],
    unsigned: [forged({ alg: 'none', typ: 'at+jwt' }, () => ''), 'algorithm'],
    'signed with the public key as a secret': [
      forged({ alg: 'HS256', typ: 'at+jwt', kid: 'key_1' }, hmac),
      'algorithm',
    ],
    'no token at all': ['abc', 'malformed'],
  }
  for (const [name, [token, reason]] of Object.entries(bad)) {
    await t.test(name, async () => {
      const found = await problemOf(verify(`Bearer ${token}`, undefined))
      assert.deepEqual(found, ['access_token_invalid', reason])
    })
  }
})

test('[AUTH-01] a cached token is not verified again, and is refused after it expires', async () => {
  const { verify, moveTo, lookups } = verifierAt()
  const header = `Bearer ${await tokenOf()}`
  for (let i = 0; i < 5; i++) await verify(header, undefined)
  assert.equal(lookups(), 1)
  moveTo(START + 299)
  await verify(header, undefined)
  assert.equal(lookups(), 1)
  moveTo(START + 310)
  await verify(header, undefined)
  assert.equal(lookups(), 2, 'the skew is forgiven by a full check only')
  moveTo(START + 331)
  assert.deepEqual(await problemOf(verify(header, undefined)), ['access_token_invalid', 'expired'])
})

test('[AUTH-01][API-08] the challenge names the metadata, and an error only if a token was sent', () => {
  const metadata = 'resource_metadata="https://exchange.example/.well-known/oauth-protected-resource"'
  assert.equal(bearerChallenge('access_token_missing', publicUrl), `Bearer ${metadata}`)
  assert.equal(
    bearerChallenge('access_token_invalid', publicUrl),
    `Bearer error="invalid_token", ${metadata}`,
  )
})

test('[AUTH-01] the protected resource metadata names the embedded or the external issuer', () => {
  const own: unknown = protectedResourceMetadata({ publicUrl })
  const outside: unknown = protectedResourceMetadata({ publicUrl, issuer: 'https://login.example' })
  assert.partialDeepStrictEqual(own, { resource: publicUrl, authorization_servers: [publicUrl] })
  assert.partialDeepStrictEqual(outside, {
    resource: publicUrl,
    authorization_servers: ['https://login.example'],
  })
})

test('[AUTH-01] a cached token is refused after its key was revoked', async () => {
  const { verify, setKeys } = verifierAt()
  const token = `Bearer ${await tokenOf()}`
  await verify(token, undefined)
  const other = await newKey('key_2')
  setKeys([other, key])
  await verify(token, undefined)
  setKeys([other])
  await assert.rejects(verify(token, undefined), { code: 'access_token_invalid' })
})
