import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { GatewayProblem } from '../problems.ts'
import { REFUSED_CREDENTIALS_PER_MINUTE } from './api-limits.ts'
import { createRefusalDelay } from './delay-refusals.ts'

test('an address that guesses credentials is answered late; other problems, addresses and proxies are not', async () => {
  const delayed: string[] = []
  const delayMs = 60_000
  await using app = Fastify()
  const delay = createRefusalDelay(() => 0, { delayMs, isProxy: (address) => address === '10.0.0.9' })
  app.get('/', async (request, reply) => {
    const code = String(request.headers['code'] ?? 'access_token_invalid') as 'access_token_invalid'
    const work = delay(new GatewayProblem(code), request, reply).then(() => 'answered')
    const first = await Promise.race([work, new Promise((resolve) => setImmediate(resolve, 'delayed'))])
    if (first === 'delayed') delayed.push(request.ip)
    return {}
  })
  const ask = (remoteAddress: string, headers = {}) => app.inject({ url: '/', remoteAddress, headers })
  for (let number = 0; number < REFUSED_CREDENTIALS_PER_MINUTE; number += 1) await ask('10.0.0.1')
  assert.deepEqual(delayed, [])
  await ask('10.0.0.1')
  await ask('10.0.0.2')
  await ask('10.0.0.1', { code: 'resource_not_found' })
  for (let number = 0; number <= REFUSED_CREDENTIALS_PER_MINUTE; number += 1) await ask('10.0.0.9')
  assert.deepEqual(delayed, ['10.0.0.1'])
})
