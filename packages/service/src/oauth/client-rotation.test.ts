import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import { requestToken, startWorld } from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

async function callWith(token: string) {
  const headers = { authorization: `Bearer ${token}`, 'x-correlation-id': 'rotation' }
  const response = await fetch(`${world.url}/v1/skills`, { headers })
  const body = (await response.json()) as { code?: string; details?: object }
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body }
}

test('[AUTH-01][AUTH-02] rotating a client invalidates its tokens at once, and new tokens work at once', async () => {
  const { clientId, clientKey } = await world.organization('rotating')
  const bystander = await world.organization('bystander')
  let key = clientKey
  const ended: string[] = []
  for (let round = 0; round < 3; round++) {
    const credential = { method: 'private_key_jwt' as const, key: key.privateJwk }
    const client = { baseUrl: world.url, clientId, credential }
    const { access_token: token } = await requestToken(client)
    // Twice, because the second call finds the token in the cache.
    assert.deepEqual([(await callWith(token)).status, (await callWith(token)).status], [200, 200])

    key = await generateKeyPair('signing')
    const rotation = { public_jwk: key.publicKey.jwk, reason: 'the key was exposed' }
    const rotated = await world.operate('POST', `/clients/${clientId}/rotate`, rotation)
    assert.equal(rotated.status, 200)
    ended.push(token)
    for (const each of ended) {
      const { status, challenge, body } = await callWith(each)
      assert.deepEqual(
        [status, body.code, body.details],
        [401, 'access_token_invalid', { reason: 'client_rotated' }],
      )
      assert.match(challenge ?? '', /error="invalid_token"/)
    }
    await assert.rejects(requestToken(client), 'the former credential gets no token')
  }
  assert.equal((await bystander.get('/v1/skills')).status, 200)
})
