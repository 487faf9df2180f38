import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { problemDetails, validatorOf } from '@agent-exchange/protocol'
import { openTestDatabase, untilBlocked } from '@agent-exchange/testkit'
import { addOperator, startOperatorPlane, type Answer } from './operator.fixture.ts'

const database = await openTestDatabase()
const { db } = database
let ready = true
const plane = await startOperatorPlane(db, { isReady: () => ready })
after(async () => {
  await plane[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

function assertProblem({ status, headers, body }: Answer, expected: number, code: string) {
  assert.equal(status, expected, JSON.stringify(body))
  assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/)
  assert.deepEqual(validatorOf(problemDetails)(body), [])
  assert.equal(Object.keys(body).length, 7)
  assert.equal(body['code'], code)
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const ORGANIZATION = { organization_id: 'org_one', name: 'One' }

test('[AUTH-01] a missing, wrong, malformed or disabled token is refused', async () => {
  const other = await addOperator(db, 'other')
  const anonymous = await fetch(`${plane.url}/operator/v1/organizations`)
  assert.equal(anonymous.status, 401)
  assert.match(anonymous.headers.get('www-authenticate') ?? '', /^Bearer/)
  for (const header of [
    { authorization: '' },
    bearer('aexop_wrong'),
    bearer(`${plane.token}x`),
    { authorization: `Basic ${plane.token}` },
  ]) {
    const answer = await plane.post('/organizations', ORGANIZATION, header)
    assertProblem(answer, 401, 'access_token_invalid')
  }
  assert.equal((await plane.get('/organizations', bearer(other))).status, 200)
  assert.equal((await plane.post('/operators/other/disable', { reason: 'left the team' })).status, 200)
  assertProblem(await plane.get('/organizations', bearer(other)), 401, 'access_token_invalid')
  assert.equal((await db`select 1 from organization`).length, 0)
})

test('a wrong token is refused before the body is read, however malformed or large it is', async () => {
  for (const body of ['{"broken', 'x'.repeat(100_000)]) {
    const answer = await plane.post('/organizations', body, { authorization: 'Bearer no' })
    assertProblem(answer, 401, 'access_token_invalid')
  }
})

test('tokens are stored as hashes only, and a new token is shown once', async () => {
  const created = await plane.post('/operators', { name: 'second', role: 'administrator' })
  assert.equal(created.status, 201)
  const token = String(created.body['token'])
  assert.match(token, /^aexop_[\w-]{43}$/)
  const stored = JSON.stringify([await db`select * from operator`, await db`select * from operator_log`])
  assert.ok(!stored.includes(token) && !stored.includes(Buffer.from(token).toString('hex')))
  assert.ok(!JSON.stringify(await plane.get('/operators')).includes(token))
  assert.equal((await plane.get('/organizations', { authorization: `Bearer ${token}` })).status, 200)
  const again = await plane.post('/operators', { name: 'second', role: 'viewer' })
  assertProblem(again, 409, 'identifier_conflict')
})

test('an operator is created with the role that the request names; a request without one is refused', async () => {
  const refused = await plane.post('/operators', { name: 'roleless' })
  assertProblem(refused, 422, 'validation_failed')
  assert.match(JSON.stringify(refused.body['details']), /"\/role"/u)
  assertProblem(await plane.get('/operators/roleless'), 404, 'resource_not_found')
  assert.equal((await plane.post('/operators', { name: 'reader', role: 'viewer' })).body['role'], 'viewer')
  assert.equal((await plane.post('/operators/reader/disable', { reason: 'test' })).status, 200)
})

test('the last active operator cannot be disabled, even if two disable each other concurrently', async () => {
  await plane.post('/operators/second/disable', { reason: 'test' })
  const alone = await plane.post('/operators/admin/disable', { reason: 'test' })
  assertProblem(alone, 409, 'invalid_state_transition')
  const rival = { authorization: `Bearer ${await addOperator(db, 'rival')}` }
  let both: Promise<Answer[]> = Promise.resolve([])
  // Both requests wait for the same lock, so that each has seen the other operator active.
  await db.begin(async (tx) => {
    await tx`select 1 from operator where disabled_at is null for update`
    both = Promise.all([
      plane.post('/operators/rival/disable', { reason: 'race' }),
      plane.post('/operators/admin/disable', { reason: 'race' }, rival),
    ])
    await untilBlocked({ sql: tx }, 2)
  })
  assert.equal((await both).filter(({ status }) => status === 200).length, 1)
  assert.equal((await db`select 1 from operator where disabled_at is null`).length, 1)
  await db`update operator set disabled_at = null where name = 'admin'`
})

test('health and readiness need no token, and readiness reflects the service state', async () => {
  assert.equal((await fetch(`${plane.url}/healthz`)).status, 200)
  assert.equal((await fetch(`${plane.url}/readyz`)).status, 200)
  ready = false
  assert.equal((await fetch(`${plane.url}/readyz`)).status, 503)
  assert.equal((await fetch(`${plane.url}/healthz`)).status, 200)
  ready = true
  const metrics = await fetch(`${plane.url}/metrics`)
  assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  assert.equal(await metrics.text(), 'aex_up 1\n')
})

test('[ERR-01] every kind of bad input gets a problem with seven members and is not echoed', async () => {
  const canary = 'canary-7f3a'
  const json = { 'content-type': 'application/json' }
  const cases: [Answer, number, string][] = [
    [await plane.post('/organizations', `{"name":"${canary}"`, json), 400, 'malformed_request'],
    [await plane.post('/organizations', `{"name":"a","name":"${canary}"}`, json), 400, 'malformed_request'],
    [await plane.post('/organizations', '['.repeat(100) + ']'.repeat(100), json), 400, 'malformed_request'],
    [
      await plane.post('/organizations', `{"${canary}":1}`, { 'content-type': 'text/plain' }),
      415,
      'media_type_unsupported',
    ],
    [
      await plane.post('/organizations', ORGANIZATION, { 'content-encoding': 'gzip' }),
      415,
      'media_type_unsupported',
    ],
    [
      await plane.post('/organizations', { ...ORGANIZATION, name: 'x'.repeat(70_000) }),
      413,
      'payload_too_large',
    ],
    [await plane.post('/organizations', { ...ORGANIZATION, [canary]: canary }), 422, 'validation_failed'],
    [
      await plane.post('/organizations', { ...ORGANIZATION, name: `${canary}\u0000` }),
      422,
      'validation_failed',
    ],
    [
      await plane.post('/organizations', { ...ORGANIZATION, organization_id: canary }),
      422,
      'validation_failed',
    ],
    [await plane.post('/organizations', { ...ORGANIZATION, contact: canary }), 422, 'validation_failed'],
    [await plane.post('/organizations', [canary]), 422, 'validation_failed'],
    [await plane.post(`/organizations/${canary}/suspend`, {}), 422, 'validation_failed'],
    [await plane.post(`/organizations/${canary}/suspend`, { reason: 'x' }), 404, 'resource_not_found'],
    [await plane.post('/organizations/org_%00/suspend', { reason: 'x' }), 404, 'resource_not_found'],
    [
      await plane.post(`/organizations/${encodeURIComponent("' or '1'='1")}/suspend`, { reason: 'x' }),
      404,
      'resource_not_found',
    ],
    [await plane.get(`/${canary}`), 404, 'resource_not_found'],
    [await plane.get('/organizations?limit=0'), 422, 'validation_failed'],
    [await plane.get('/organizations?limit=1001'), 422, 'validation_failed'],
    [await plane.get('/organizations?limit=abc'), 422, 'validation_failed'],
    [await plane.get('/organizations?limit=1&limit=2'), 422, 'validation_failed'],
    [await plane.get(`/organizations?${canary}=1`), 422, 'validation_failed'],
    [await plane.get(`/organizations?after=${canary}`), 400, 'cursor_invalid'],
    [await plane.get('/organizations/%E0%A4%A'), 400, 'malformed_request'],
  ]
  for (const [answer, status, code] of cases) {
    assertProblem(answer, status, code)
    assert.ok(!JSON.stringify(answer.body).includes(canary), JSON.stringify(answer.body))
  }
  assert.equal((await db`select 1 from organization`).length, 0)
  assert.deepEqual(plane.logged, [])
})

test('bytes that are not HTTP are refused without internal details', async () => {
  const socket = connect(Number(new URL(plane.url).port), '127.0.0.1')
  socket.end('nonsense\r\n\r\n')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
  await once(socket, 'close')
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 400 Bad Request\r\nContent-Length: 0\r\n/)
})

test('[ERR-01] a repeated or missing Host header is 400 with a problem document', async () => {
  for (const hosts of ['Host: a\r\nHost: b\r\n', '']) {
    const socket = connect(Number(new URL(plane.url).port), '127.0.0.1')
    socket.end(`GET /readyz HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`)
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => void chunks.push(chunk))
    await once(socket, 'close')
    const answer = Buffer.concat(chunks).toString()
    assert.match(answer, /^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*"header_(?:invalid|missing)"/)
  }
})

test('`Content-Encoding: identity` is accepted', async () => {
  const answer = await plane.post('/organizations', {}, { 'content-encoding': 'identity' })
  assertProblem(answer, 422, 'validation_failed')
})

test('an unexpected failure is a generic problem for the caller and a stack trace in the log', async () => {
  const answer = await plane.get('/keys')
  assertProblem(answer, 500, 'internal_error')
  assert.ok(!JSON.stringify(answer.body).includes('not used in this test'))
  assert.match(JSON.stringify(plane.logged), /not used in this test/)
})

test('a valid correlation id is used, an invalid one replaced, and the response carries it', async () => {
  const given = await plane.get('/organizations', { 'x-correlation-id': 'corr_mine' })
  assert.equal(given.headers.get('x-correlation-id'), 'corr_mine')
  const refused = await plane.get('/none', { 'x-correlation-id': 'with space' })
  assert.match(String(refused.body['correlation_id']), /^corr_[0-9a-f]{32}$/)
  assert.equal(refused.headers.get('cache-control'), 'no-store')
})
