import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { LineProcess } from '../run/line-process.ts'
import { carelessAgent } from './careless-agent.fixture.ts'
import { AGENT_CHECKS } from './checks/index.ts'
import { startAgentSession } from './judge-agent.ts'

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

const listeningAt = (url: string, agent: LineProcess): LineProcess => ({
  ...agent,
  ask: (question) =>
    Reflect.get(question, 'command') === 'listen' ? Promise.resolve({ url }) : agent.ask(question),
})

test('[EVT-14] what depends on handled is skipped for an agent that cannot say it', async () => {
  await using inner = carelessAgent()
  await using receiver = await startDeafReceiver()
  const process = listeningAt(receiver.url, inner)
  await using session = await startAgentSession({ process, seed: 'no handled' })
  const names = new Set(['agent/stream/duplicate', 'agent/stream/shuffled'])
  const results = await session.run({ checks: AGENT_CHECKS.filter(({ name }) => names.has(name)) })
  assert.deepEqual(
    results.map(({ verdict, reason }) => [verdict, reason]),
    [...names].map(() => ['skipped', 'the driver does not support handled']),
  )
})

test('[EVT-14] a webhook that was answered wrongly is in the report', async () => {
  await using inner = carelessAgent()
  await using receiver = await startDeafReceiver()
  const process = listeningAt(receiver.url, inner)
  await using session = await startAgentSession({ process, seed: 'deaf' })
  const checks = AGENT_CHECKS.filter(({ name }) => name === 'agent/webhooks/rejects/event-id')
  const [result] = await session.run({ checks })
  const [webhook] = result?.observed ?? []
  assert.equal(result?.verdict, 'fail')
  assert.ok(webhook && 'status' in webhook)
  assert.deepEqual([webhook.method, webhook.url, webhook.status], ['POST', receiver.url, 204])
  assert.equal(webhook.headers['svc-event-id'], 'evt_other')
  assert.match(webhook.body ?? '', /"event_type":"package\.delivered"/u)
})

test('[EVT-14] an agent that opens everything fails by what it should refuse, and is skipped where it cannot act', async () => {
  await using process = carelessAgent()
  await using session = await startAgentSession({ process, seed: 'test' })
  const results = await session.run({ checks: AGENT_CHECKS })
  const of = (start: string) => results.filter(({ name }) => name.startsWith(start))
  assert.ok(of('agent/opening/refuses/').every(({ verdict }) => verdict === 'fail'))
  for (const { observed } of of('agent/opening/refuses/')) {
    const last = observed.at(-1)
    assert.ok(last && 'line' in last)
    assert.match(last.line, /"command":"open","package_id":"pkg_/u)
    assert.match(last.answer, /"opened":true/u)
  }
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
