import { test } from 'node:test'
import { formatInvitation, generateKeyPair } from '@agent-exchange/crypto'
import { ExchangeError } from '../errors.ts'
import type { Fetch } from './http-transport.ts'
import { readInvitation, redeemInvitation } from './redeem-invitation.ts'

const text = formatInvitation({
  baseUrl: 'https://exchange.example',
  organizationId: 'org_acme',
  expiresAt: '2026-03-03T08:00:00.000Z',
  secret: Buffer.alloc(32, 7).toString('base64url'),
})
const { publicKey } = await generateKeyPair('signing')
const answered = { client_id: 'client_1', organization_id: 'org_acme', agent_id: 'agent_a' }

function redeem(fetch: Fetch, { now = '2026-03-02T08:00:00.000Z', invitation = text } = {}) {
  return redeemInvitation({
    invitation: readInvitation(invitation),
    agentId: 'agent_a',
    publicJwk: publicKey.jwk,
    fetch,
    now: () => new Date(now),
  })
}

const json = (status: number, body: object) =>
  Response.json(body, {
    status,
    headers: { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' },
  })
const problem = {
  type: 'https://exchange.example/problems/invitation-refused',
  title: 'The invitation cannot be used',
  status: 403,
  code: 'invitation_refused',
  correlation_id: 'corr_1',
  retryable: false,
  details: {},
}
const codeOf = (expected: string, pattern: RegExp) => (error: unknown) =>
  error instanceof ExchangeError && error.code === expected && pattern.test(error.message)

test('an invitation is redeemed with the same request after a lost answer', async (t) => {
  const bodies: unknown[] = []
  const client = await redeem((url, init) => {
    t.assert.equal(url, 'https://exchange.example/join')
    bodies.push(init.body)
    return bodies.length === 1 ? Promise.reject(new Error('lost')) : Promise.resolve(json(200, answered))
  })
  t.assert.deepEqual(client, { clientId: 'client_1', organizationId: 'org_acme', agentId: 'agent_a' })
  t.assert.equal(bodies.length, 2)
  t.assert.equal(bodies[0], bodies[1])
})

test('a refusal names the expiry that the invitation itself states', async (t) => {
  const refuse: Fetch = () => Promise.resolve(json(403, problem))
  await t.assert.rejects(
    redeem(refuse, { now: '2026-03-03T08:00:00.000Z' }),
    codeOf('invitation_refused', /expired at 2026-03-03T08:00:00.000Z/),
  )
  await t.assert.rejects(redeem(refuse), codeOf('invitation_refused', /used with another key or revoked/))
})

test('the secret is sent by https only, and an answer for another agent is refused', async (t) => {
  const never: Fetch = () => Promise.reject(new Error('was sent'))
  const plain = formatInvitation({ ...readInvitation(text), baseUrl: 'http://exchange.example' })
  await t.assert.rejects(redeem(never, { invitation: plain }), codeOf('input_invalid', /not https/))
  for (const change of [{ organization_id: 'org_other' }, { agent_id: 'agent_b' }, { client_id: 7 }]) {
    const wrong: Fetch = () => Promise.resolve(json(200, { ...answered, ...change }))
    await t.assert.rejects(redeem(wrong), codeOf('exchange_answer_unreadable', /./))
  }
})
