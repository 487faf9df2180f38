import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { LineProcess } from '../run/line-process.ts'
import { AGENT_CHECKS } from './checks/index.ts'
import { startAgentSession } from './judge-agent.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const jwk = () => publicKey.export({ format: 'jwk' })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function assertion(audience: string, clientId: string): string {
  const exp = Math.floor(Date.now() / 1_000) + 60
  const text = `${encode({ alg: 'ES256' })}.${encode({ iss: clientId, sub: clientId, aud: audience, jti: 'j', exp })}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

/** An agent that registers, and then opens whatever it is given. */
function carelessAgent(): LineProcess {
  let given: Record<string, string> = {}
  const register = async () => {
    const base = given['base_url'] ?? ''
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_assertion: assertion(base, given['client_id'] ?? ''),
    })
    const answer = await fetch(`${base}/oauth/token`, { method: 'POST', body })
    const { access_token: token } = (await answer.json()) as { access_token: string }
    const key = { format: 'jwk', public_key: jwk(), valid_from: '2026-01-01T00:00:00Z' }
    await fetch(`${base}/v1/agents/register`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'x-correlation-id': 'corr_1',
        'idempotency-key': 'idem_1',
      },
      body: JSON.stringify({
        organization_id: given['organization_id'],
        agent_id: given['agent_id'],
        implementation: 'careless',
        implementation_version: '1',
        protocol_versions: ['svc/1.0'],
        keys: [
          { ...key, key_id: 'k1', use: 'signing' },
          { ...key, key_id: 'k2', use: 'encryption' },
        ],
      }),
    })
    return {}
  }
  return {
    async ask(question) {
      const { command, ...values } = question as Record<string, string>
      if (command === 'create') given = values
      if (command === 'create') return { client_jwk: jwk() }
      if (command === 'register') return register()
      if (command === 'open') return { opened: true, object: {} }
      return { unsupported: true }
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}

/** Answers every webhook by 204 and forgets it. */
async function startDeafReceiver() {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

test('[EVT-14] what depends on handled is skipped for an agent that cannot say it', async () => {
  await using inner = carelessAgent()
  await using receiver = await startDeafReceiver()
  const process: LineProcess = {
    ...inner,
    ask: (question) =>
      Reflect.get(question, 'command') === 'listen'
        ? Promise.resolve({ url: receiver.url })
        : inner.ask(question),
  }
  await using session = await startAgentSession({ process, seed: 'no handled' })
  const names = new Set(['agent/stream/duplicate', 'agent/stream/shuffled'])
  const results = await session.run({ checks: AGENT_CHECKS.filter(({ name }) => names.has(name)) })
  assert.deepEqual(
    results.map(({ verdict, reason }) => [verdict, reason]),
    [...names].map(() => ['skipped', 'the driver does not support handled']),
  )
})

test('[EVT-14] an agent that opens everything fails by what it should refuse, and is skipped where it cannot act', async () => {
  await using process = carelessAgent()
  await using session = await startAgentSession({ process, seed: 'test' })
  const results = await session.run({ checks: AGENT_CHECKS })
  const of = (start: string) => results.filter(({ name }) => name.startsWith(start))
  assert.ok(of('agent/opening/refuses/').every(({ verdict }) => verdict === 'fail'))
  const other = 'the object that the agent opened'
  assert.ok(
    of('agent/opening/opens/').every(({ verdict, reason }) => verdict === 'fail' && reason?.includes(other)),
  )
  assert.ok(of('agent/webhooks/').every(({ verdict }) => verdict === 'skipped'))
  assert.ok(of('agent/requests/').every(({ verdict }) => verdict === 'pass'))
})

test('[AUTH-02] the scripted exchange gives no token for a used assertion, and no answer without a token', async () => {
  await using process = carelessAgent()
  let base = ''
  const watched: LineProcess = {
    ...process,
    ask(question) {
      base = String(Reflect.get(question, 'base_url') ?? base)
      return process.ask(question)
    },
  }
  await using session = await startAgentSession({ process: watched, seed: 'tokens' })
  assert.ok(session)
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_assertion: 'a.b.c' })
  assert.equal((await fetch(`${base}/oauth/token`, { method: 'POST', body: form })).status, 401)
  assert.equal((await fetch(`${base}/v1/notifications`)).status, 401)
})
