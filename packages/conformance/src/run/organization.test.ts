import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer, WireRequest } from '../wire/wire.ts'
import { refused } from './expect.ts'
import { NotJudged } from './finding.ts'
import { organizationOf } from './organization.ts'

/** A service that answers by the token of a request, and by 404 to everything that it does not know. */
function callerOf(statusOf: (token: string) => number, isKnown = true) {
  const requests: WireRequest[] = []
  let issued = 0
  let token = 'token 0'
  const organization = organizationOf({
    baseUrl: 'https://exchange.example',
    organizationId: 'org_a',
    client: { clientId: 'client_a' },
    token: (isRefused) => Promise.resolve(isRefused ? (token = `token ${++issued}`) : token),
    send: (request) => {
      requests.push(request)
      const status = statusOf((request.headers['authorization'] ?? '').replace('Bearer ', ''))
      return Promise.resolve({ status, headers: {}, text: '{}', bytes: new Uint8Array() })
    },
    newId: (prefix) => `${prefix}_1`,
    record: (answer): Answer => ({ ...answer, isKnownOperation: isKnown }),
  })
  return { organization, requests }
}

test('[AUTH-01] a token that ended is renewed once, so that its refusal is not taken for one of the request', async () => {
  const { organization, requests } = callerOf((token) => (token === 'token 0' ? 401 : 201))
  assert.equal((await organization.call('POST', '/v1/policy-receipts', {})).status, 201)
  const [first, second] = requests
  assert.equal(first?.headers['idempotency-key'], second?.headers['idempotency-key'])
  const always = callerOf(() => 401)
  assert.equal((await always.organization.call('POST', '/v1/policy-receipts', {})).status, 401)
  assert.equal(always.requests.length, 2)
})

test('[AUTH-01] a token of the check itself is sent as it is', async () => {
  const { organization, requests } = callerOf(() => 401)
  const headers = { authorization: 'Bearer not-a-token' }
  assert.equal((await organization.call('GET', '/v1/notifications', undefined, { headers })).status, 401)
  assert.deepEqual(
    requests.map(({ hasOwnToken }) => hasOwnToken),
    [false],
  )
})

test('[AUTH-01] a token goes to the origin of the service only', async () => {
  const { organization, requests } = callerOf(() => 200)
  for (const url of ['/v1/skills', 'https://exchange.example/content/1', 'https://store.example/content/1'])
    await organization.call('GET', url)
  assert.deepEqual(
    requests.map(({ headers, hasOwnToken }) => [headers['authorization'], hasOwnToken]),
    [
      ['Bearer token 0', true],
      ['Bearer token 0', true],
      [undefined, false],
    ],
  )
})

test('a 404 of an operation that may not exist refuses nothing', async () => {
  const call = async (isKnown: boolean) =>
    callerOf(() => 404, isKnown).organization.call('POST', '/v1/policy-receipts', {})
  const unknown = await call(false)
  assert.throws(() => refused(unknown, 'an altered receipt'), NotJudged)
  assert.equal(refused(await call(true), 'an altered receipt').status, 404)
})
