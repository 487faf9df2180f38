import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, createLocalJWKSet, SignJWT, UnsecuredJWT } from 'jose'
import { GatewayProblem } from '../problems.ts'
import { callerOfToken, type TokenRules } from './access-tokens.ts'
import { identifyByToken } from './identify-caller.ts'

const ISSUER = 'https://id.company.example'
const AUDIENCE = 'https://gateway.company.example/api'
const pair = await generateKeyPair('ES256')
const stranger = await generateKeyPair('ES256')
const keys = [{ ...(await exportJWK(pair.publicKey)), alg: 'ES256', kid: 'k1' }]
const rules: TokenRules = {
  source: { issuer: ISSUER, algorithms: ['ES256'], keyOf: createLocalJWKSet({ keys }) },
  audience: AUDIENCE,
  kind: 'system',
  now: () => new Date(),
}

const seconds = () => Math.floor(Date.now() / 1_000)
const claims = (changes: object = {}) => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'erp',
  iat: seconds(),
  exp: seconds() + 300,
  scope: 'aex:read aex:send aex:agent:agent_acme openid',
  ...changes,
})
const signed = (changes: object = {}, key = pair.privateKey, header: { alg?: string; typ?: string } = {}) =>
  new SignJWT(claims(changes)).setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header }).sign(key)

test('a token of the provider permits what its scopes say, and nothing more', async () => {
  assert.deepEqual(await callerOfToken(await signed(), rules), {
    id: 'token:erp',
    kind: 'system',
    agents: ['agent_acme'],
    verbs: ['read', 'send'],
    holder: { issuer: ISSUER, subject: 'erp' },
  })
  const listed = await signed({ scope: undefined, scp: ['aex:inbox', 'aex:agent:*'], client_id: 'ledger' })
  assert.deepEqual(await callerOfToken(listed, rules), {
    id: 'token:ledger',
    kind: 'system',
    agents: ['*'],
    verbs: ['inbox'],
    holder: { issuer: ISSUER, subject: 'erp' },
  })
  const none = await callerOfToken(await signed({ scope: 'aex:approve aex: aex:agent: admin' }), rules)
  assert.deepEqual([none.agents, none.verbs], [[], []])
})

test('a token of another audience or issuer, expired, unsigned, or by another key is refused', async () => {
  const secret = new TextEncoder().encode(JSON.stringify(keys[0]))
  for (const [token, reason] of [
    [await signed({ aud: 'https://gateway.company.example/mcp' }), 'claim_aud'],
    [await signed({ iss: 'https://id.other.example' }), 'claim_iss'],
    [await signed({ exp: seconds() - 120, iat: seconds() - 500 }), 'expired'],
    [await signed({ exp: undefined }), 'claim_exp'],
    [await signed({ exp: seconds() + 10 * 86_400 }), 'lifetime_too_long'],
    [await signed({}, stranger.privateKey), 'signature'],
    [new UnsecuredJWT(claims()).encode(), 'algorithm'],
    [await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret), 'algorithm'],
    [await signed({ sub: '' }), 'claim_sub'],
    [await signed({ sub: 'erp\u0000' }), 'claim_sub'],
    [await signed({ sub: 'x'.repeat(257), client_id: 'erp' }), 'claim_sub'],
    [await signed({ client_id: 'erp\u0000' }), 'claim_sub'],
    [await signed({ nonce: 'n' }), 'id_token'],
    [await signed({ at_hash: 'x' }), 'id_token'],
    [await signed({ typ: 'ID' }), 'id_token'],
    [await signed({}, pair.privateKey, { typ: 'logout+jwt' }), 'type'],
    ['x', 'malformed'],
  ] as const) {
    const refused = await callerOfToken(token, rules).catch((error: unknown) => error)
    assert.ok(refused instanceof GatewayProblem, reason)
    assert.deepEqual([refused.code, refused.details], ['access_token_invalid', { reason }])
  }
})

test('the types of access tokens of RFC 9068 and of widespread providers are accepted', async () => {
  for (const typ of ['at+jwt', 'application/at+jwt', 'JWT'])
    assert.equal(
      (await callerOfToken(await signed({ typ: 'Bearer' }, pair.privateKey, { typ }), rules)).id,
      'token:erp',
    )
})

test('where only tokens count, an API key is none', async () => {
  const identify = identifyByToken({ ...rules, kind: 'model' })
  assert.equal((await identify(`Bearer ${await signed()}`)).kind, 'model')
  await assert.rejects(identify(`Bearer aexg_${'x'.repeat(43)}`), { code: 'access_token_invalid' })
  await assert.rejects(identify(undefined), { code: 'access_token_missing' })
})
