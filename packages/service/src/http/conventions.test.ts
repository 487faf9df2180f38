import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { METHODS, request as httpRequest, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import {
  OPERATION_IDS,
  operations,
  problems,
  problemSlug,
  validatorOf,
  type Operation,
  type ProblemCode,
} from '@agent-exchange/protocol'
import { assertProblem, setScene, startWorld, type Answer } from '@agent-exchange/testkit'

const world = await startWorld({
  profile: { 'O-13': { webhook_endpoints: 1_000 } },
  config: { role: 'api' },
})
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)

test('[API-01][API-02][API-07] each operation succeeds with its status and a body that matches its schema', async (t) => {
  for (const id of OPERATION_IDS) {
    await t.test(id, async () => {
      const correlationId = randomUUID()
      const answer = await (await scene.make(id)).send({ correlationId })
      const { success }: Operation = operations[id]
      assert.equal(answer.status, success.status, answer.text)
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json(;|$)/)
      assert.equal(answer.headers.get('x-correlation-id'), correlationId)
      assert.deepEqual(validatorOf(success.body)(answer.body), [])
      const times = answer.text.match(/"\d{4}-\d\d-\d\dT[^"]*"/g) ?? []
      for (const time of times) assert.match(time, /(Z|\+00:00)"$/)
    })
  }
})

const BAD_VALUES = ['', ' ', 'a b', 'ü', 'x'.repeat(257), 'a\tb']

test('[API-03][O-39][ERR-01] a missing, empty, repeated or invalid header is refused by name, before any effect', async (t) => {
  for (const id of OPERATION_IDS) {
    const names = operations[id].mutation ? ['X-Correlation-ID', 'Idempotency-Key'] : ['X-Correlation-ID']
    await t.test(id, async () => {
      const request = await scene.make(id)
      const before = await effects()
      for (const header of names) {
        const missing = await request.send({ headers: { [header]: undefined } })
        assertProblem(missing, 'header_missing', undefined, id)
        assert.deepEqual(missing.body['details'], { header })
        for (const value of BAD_VALUES) {
          const answer = await request.send({ headers: { [header]: value } })
          assertProblem(answer, 'header_invalid', undefined, `${id} ${JSON.stringify(value)}`)
          assert.deepEqual(answer.body['details'], { header })
        }
        // fetch joins repeated headers with a comma and a space; raw repetition is in parser-failures.test.ts.
        assertProblem(
          await request.send({ headers: { [header]: 'one, two' } }),
          'header_invalid',
          undefined,
          id,
        )
      }
      assert.deepEqual(await effects(), before)
      const longest = Object.fromEntries(names.map((name) => [name, `~${randomUUID()}!`.padEnd(256, '}')]))
      const answer = await request.send({ headers: longest })
      assert.equal(answer.status, operations[id].success.status, answer.text)
    })
  }
})

test('[API-08][AUTH-01][ERR-03] without a valid token every operation is refused, and the challenge says where to get one', async (t) => {
  const token = await scene.sender.token()
  const [head = '', claims = '', signature = ''] = token.split('.')
  const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')
  const bad = {
    'another scheme': 'Basic dXNlcjpwYXNz',
    'no token': 'Bearer ',
    'not a token': 'Bearer abc',
    'altered signature': `Bearer ${head}.${claims}.${flipped}`,
    'algorithm none': `Bearer ${none}.${claims}.`,
    'two tokens': `Bearer ${token} ${token}`,
    'far too long': `Bearer ${'a'.repeat(9_000)}`,
  }
  for (const id of OPERATION_IDS) {
    await t.test(id, async () => {
      const request = await scene.make(id)
      const missing = await request.send({ headers: { authorization: undefined } })
      assertProblem(missing, 'access_token_missing', undefined, id)
      assert.equal(
        missing.headers.get('www-authenticate'),
        `Bearer resource_metadata="${world.url}/.well-known/oauth-protected-resource"`,
      )
      for (const [name, authorization] of Object.entries(bad)) {
        const answer = await request.send({ headers: { authorization } })
        const code =
          name === 'no token' ? ['access_token_missing', 'access_token_invalid'] : ['access_token_invalid']
        assert.ok(code.includes(String(answer.body['code'])), `${id} ${name} ${answer.text}`)
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer /)
        assert.equal(answer.text.includes(claims), false)
      }
    })
  }
})

const TEXT = { 'content-type': 'text/plain', 'content-length': '4', connection: 'close' }

/** Sends any method that Node's parser knows; fetch refuses some of them. */
async function methodAt(path: string, method: string, headers: Record<string, string> = {}) {
  const outgoing = httpRequest(world.url + path, { method, headers })
  outgoing.end(headers['content-type'] === undefined ? undefined : 'text')
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  answer.resume()
  return [answer.statusCode, answer.headers['allow']]
}

test('[API-01][API-02] an unsupported method is 405, whatever its body, and Allow lists exactly the supported ones', async () => {
  const unusual = METHODS.filter((method) => method !== 'CONNECT')
  const declared = Map.groupBy(
    OPERATION_IDS.map((id) => operations[id]),
    ({ path }) => path,
  )
  for (const [template, found] of declared) {
    const allowed = found.map(({ method }) => method)
    const path = template.replaceAll(/\{\w+\}/g, 'x')
    for (const method of unusual) {
      if ((allowed as string[]).includes(method)) continue
      const label = `${method} ${path}`
      assert.deepEqual(await methodAt(path, method), [405, allowed.join(', ')], label)
      const withBody = await methodAt(path, method, TEXT)
      assert.deepEqual(withBody, [405, allowed.join(', ')], `${label} with a body`)
    }
  }
  assert.deepEqual(await methodAt('/v1/nothing', 'QUERY'), [404, undefined])
})

test('[API-01] a wrong method is 405 with an Allow header, and no other path exists under /v1', async () => {
  for (const id of OPERATION_IDS) {
    const { path } = await scene.make(id)
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await call(method, path)
      assertProblem(answer, 'method_not_allowed', undefined, `${method} ${path}`)
      assert.ok(answer.headers.get('allow')?.split(', ').includes(operations[id].method), path)
    }
    assert.equal((await fetch(world.url + path, { method: 'HEAD' })).status, 405)
  }
  const paths = [
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/agents/a/keys/b',
    '/v1//skills',
    '/V1/skills',
    '/v1/skills/',
    '/v2/skills',
  ]
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      assertProblem(
        await call(method, path, { 'content-type': 'text/plain' }),
        'resource_not_found',
        undefined,
        path,
      )
    }
  }
})

test('[ERR-01] the type of every problem resolves to a page that explains it', async () => {
  for (const [code, { title }] of Object.entries(problems)) {
    const page = await fetch(`${world.url}/problems/${problemSlug(code as ProblemCode)}`)
    assert.equal(page.status, 200, code)
    assert.match(await page.text(), new RegExp(title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')))
  }
})

test('[API-08][AUTH-01] an expired token is refused, even if it was just accepted', async () => {
  await using own = await startWorld()
  const organization = await own.organization('late')
  const headers = { authorization: `Bearer ${await organization.token()}` }
  assert.equal((await organization.get('/v1/skills', { headers })).status, 200)
  own.clock.advance(3_600)
  const answer = await organization.get('/v1/skills', { headers })
  assert.deepEqual(
    [answer.status, answer.body['code'], answer.body['details']],
    [401, 'access_token_invalid', { reason: 'expired' }],
  )
})

test('[API-08][ERR-03] suspension and disabling take effect with the next request, for every operation', async (t) => {
  const { sender, recipient } = scene
  const requests = await Promise.all(OPERATION_IDS.map((id) => scene.make(id)))
  const organization = `/organizations/${sender.organizationId}`
  assert.equal((await world.operate('POST', `${organization}/suspend`, { reason: 'test' })).status, 200)
  assert.equal(
    (await world.operate('POST', `/clients/${recipient.clientId}/disable`, { reason: 'test' })).status,
    200,
  )
  const before = await effects()
  for (const request of requests) {
    await t.test(request.id, async () => assertProblem(await request.send(), 'caller_suspended'))
  }
  assert.deepEqual(await effects(), before)
  await world.operate('POST', `${organization}/activate`, {})
  assert.equal((await sender.get('/v1/skills')).status, 200)
})

async function call(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  const body = method === 'GET' ? {} : { body: 'x' }
  const response = await fetch(world.url + path, { method, headers, ...body })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text) as Answer['body'],
  }
}

/** Row counts of everything that a mutation could create. */
async function effects(): Promise<unknown> {
  const tables = [
    'agent',
    'agent_key_event',
    'policy_receipt',
    'package',
    'package_receipt',
    'package_revocation',
    'webhook_endpoint',
    'notification',
    'notification_acknowledgement',
    'idempotency_record',
  ]
  return Promise.all(
    tables.map((table) => world.sql`select count(*) from ${world.sql(table)}`.then(([row]) => row)),
  )
}
