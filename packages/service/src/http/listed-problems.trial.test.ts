import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import {
  DEFAULT_PROFILE,
  OPERATION_IDS,
  operations,
  problemsOf,
  type OperationId,
  type ProblemCode,
} from '@agent-exchange/protocol'
import {
  addKey,
  movableClock,
  revokeKey,
  sendPackage,
  setScene,
  startWorld,
  type Answer,
  type OperationRequest,
  type RequestOptions,
} from '@agent-exchange/testkit'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { openDatabase } from '@agent-exchange/database'
import { fakeModule } from '../../../pkcs11/src/fake-module.fixture.ts'
import { removeExpired } from '../features/retention/retention.ts'
import { breakableWay } from './breakable-way.fixture.ts'
import { operationProblems } from './operation-problems.fixture.ts'
import { packageProblems } from './package-problems.fixture.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())

const module = cleanup.use(fakeModule())
const keyModule = module.place
const world = cleanup.use(await startWorld({ config: { keyModule } }))
const [native, dataSpace] = [await setScene(world), await setScene(world, { dsx: true })]
const beside = async (options: Omit<Parameters<typeof startWorld>[0] & object, 'beside'>) =>
  cleanup.use(await startWorld({ beside: world, ...options, config: { keyModule, ...options.config } }))

/** Codes that each operation really answered. */
const answered = new Map<OperationId, Set<string>>(OPERATION_IDS.map((id) => [id, new Set()]))

function note(
  id: OperationId,
  expected: ProblemCode,
  { status, body, text }: Pick<Answer, 'status' | 'body' | 'text'>,
) {
  assert.equal(body['code'], expected, `${id} ${status} ${text}`)
  answered.get(id)?.add(expected)
}

/** Sends a valid request of every operation, changed in one way that every operation refuses alike. */
async function everywhere(
  expected: ProblemCode,
  options: RequestOptions,
  which: (id: OperationId) => boolean = () => true,
): Promise<void> {
  for (const id of OPERATION_IDS.filter(which)) {
    const request = valid.get(id) ?? assert.fail()
    note(
      id,
      expected,
      await request.send({ ...options, headers: { 'x-correlation-id': 'c', ...options.headers } }),
    )
  }
}

const isMutation = (id: OperationId) => operations[id].mutation
const valid = new Map<OperationId, OperationRequest>()
for (const id of OPERATION_IDS) valid.set(id, await native.make(id))

test('[API-02] problems of the request itself', async () => {
  await everywhere('header_missing', { headers: { 'x-correlation-id': undefined } })
  await everywhere('header_invalid', { headers: { 'x-correlation-id': 'a b' } })
  await everywhere('access_token_missing', { headers: { authorization: undefined } })
  await everywhere('access_token_invalid', { headers: { authorization: 'Bearer none' } })
  await everywhere('malformed_request', { raw: '{' }, isMutation)
  await everywhere('payload_too_large', { raw: ' '.repeat(3_000_000) }, isMutation)
  await everywhere('media_type_unsupported', { headers: { 'content-type': 'text/plain' } }, isMutation)
  // A read has no body, so nothing about one is refused.
  for (const id of OPERATION_IDS.filter((each) => !isMutation(each))) {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'text/plain' }
    assert.equal((await valid.get(id)?.send({ headers }))?.status, 200, id)
  }
  await everywhere('validation_failed', { raw: '{"unknown":1}' }, isMutation)
  for (const id of OPERATION_IDS.filter((each) => 'query' in operations[each])) {
    const { by, path } = valid.get(id) ?? assert.fail()
    note(id, 'validation_failed', await by.get(`${path}?limit=0`))
  }
})

test('[API-02] what cannot be parsed, or arrives too slowly', async () => {
  const slow = await beside({ profile: { 'O-14': { request_seconds: 1 } } })
  const send = async (id: OperationId, expected: ProblemCode, rest: string) => {
    const { path } = valid.get(id) ?? assert.fail()
    const socket = connect(Number(new URL(slow.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`${operations[id].method} ${path} HTTP/1.1\r\nHost: exchange.example\r\n${rest}`)
    const chunks: Buffer[] = []
    for await (const chunk of socket) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const body = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as Record<string, unknown>
    note(id, expected, { status: Number(body['status']), body, text })
  }
  await Promise.all(OPERATION_IDS.map((id) => send(id, 'malformed_request', 'X Y: 1\r\n\r\n')))
  await Promise.all(OPERATION_IDS.map((id) => send(id, 'request_timeout', 'X-Slow: ')))
})

test('[API-02] problems of the caller', async () => {
  const gone = await world.organization('gone')
  const headers = { authorization: `Bearer ${await gone.token()}` }
  await world.operate('POST', `/organizations/${gone.organizationId}/suspend`, { reason: 'test' })
  await everywhere('caller_suspended', { headers })
  const strict = await beside({ profile: { 'O-30': { require_mutual_tls: true } } })
  await everywhere('client_certificate_required', { at: strict.url })
  const limited = await beside({
    profile: { 'O-13': { requests_per_second: 1, burst: 1 } },
    clock: movableClock(world.clock.now()),
  })
  await native.sender.get('/v1/skills', { at: limited.url })
  await native.recipient.get('/v1/skills', { at: limited.url })
  await everywhere('rate_limited', { at: limited.url })
})

test('[API-02] problems of tokens of another issuer', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'outside' }]
  const server = createServer((request, response) => {
    const document = request.url === '/keys' ? { keys } : { issuer: issuer(), jwks_uri: `${issuer()}/keys` }
    response.end(JSON.stringify(document))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => void server.close())
  const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const exchange = await beside({ config: { issuer: issuer() } })
  const now = Math.floor(Date.parse(world.clock.now()) / 1_000)
  const headersWith = async (claims: object) => ({
    authorization: `Bearer ${await new SignJWT({
      iss: issuer(),
      aud: world.url,
      sub: 'x',
      client_id: 'app',
      organization_id: native.sender.organizationId,
      iat: now,
      exp: now + 300,
      ...claims,
    })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'outside' })
      .sign(privateKey)}`,
  })
  const bound = await headersWith({ cnf: { 'x5t#S256': 'A'.repeat(43) } })
  await everywhere('client_certificate_mismatch', { at: exchange.url, headers: bound })
  const { organization_id } = DEFAULT_PROFILE['O-42']
  await everywhere('not_permitted', { at: exchange.url, headers: await headersWith({ organization_id }) })
  const orphaned = await beside({ config: { issuer: 'http://127.0.0.1:9' } })
  await everywhere('service_overloaded', { at: orphaned.url, headers: bound })
})

test('[API-02] problems of each operation', async () => {
  const own = {
    ...operationProblems(native),
    createPackageTransfer: await packageProblems('createPackageTransfer', { native, dataSpace }),
    createPackageResponse: await packageProblems('createPackageResponse', { native, dataSpace }),
  }
  for (const [id, problems] of Object.entries(own))
    for (const [code, provoke] of Object.entries(problems))
      note(id as OperationId, code as ProblemCode, await provoke())
})

test('[API-02][API-05] problems of a used key, and of quotas', async () => {
  for (const id of OPERATION_IDS.filter(isMutation)) {
    const request = await native.make(id)
    const options = { idempotencyKey: `used-${id}` }
    assert.equal((await request.send(options)).status, operations[id].success.status, id)
    note(id, 'idempotency_key_reuse', await request.send({ ...options, raw: '{}' }))
  }
  const { keyId } = await addKey(native.sender, 'signing')
  await revokeKey(native.sender, keyId, '2026-03-01T00:00:00Z')
  await native.sender.post('/v1/policy-receipts', (await native.make('createPolicyReceipt')).body)
  const tight = await beside({
    profile: {
      'O-13': {
        webhook_endpoints: 1,
        agents: 1,
        keys_per_agent: 2,
        revocations_per_key: 1,
        unused_policy_receipts: 1,
        stored_bytes: 1,
        receipts_per_state: 1,
      },
    },
  })
  for (const id of OPERATION_IDS.filter((each) => problemsOf(operations[each]).includes('quota_reached'))) {
    const request = await native.make(id)
    const path = `/v1/agents/${native.sender.agentId}/keys/${keyId}/revoke`
    const body = { invalid_from: '2026-02-01T00:00:00Z', reason_code: 'lost', evidence_reference: 'case' }
    const answer =
      id === 'revokeAgentKey'
        ? await native.sender.post(path, body, { at: tight.url })
        : await request.send({ at: tight.url })
    note(id, 'quota_reached', answer)
  }
})

test('[API-02] problems of the exchange', async () => {
  const way = cleanup.use(await breakableWay(world.databaseUrl))
  const cut = await beside({ config: { databaseUrl: way.url } })
  await way.cut()
  await everywhere('database_unavailable', { at: cut.url })
  // The status of the caller is read from it, before anything else.
  await world.sql`alter table organization rename to organization_away`
  await everywhere('internal_error', {})
  await world.sql`alter table organization_away rename to organization`
})

test('[API-02] the module that holds the keys of the exchange is away', async () => {
  module.change({ fails: 'CKR_DEVICE_REMOVED' })
  for (const id of OPERATION_IDS.filter((each) =>
    problemsOf(operations[each]).includes('signing_unavailable'),
  ))
    note(id, 'signing_unavailable', await (await native.make(id)).send())
  module.change({ fails: '' })
})

test('[API-02][EVT-10] a cursor that retention has passed', async () => {
  await sendPackage(native.sender, native.recipient)
  const page = await native.recipient.get('/v1/notifications?limit=1')
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 2, applicationName: 'test' })
  cleanup.defer(() => db.end())
  await removeExpired(db, DEFAULT_PROFILE, '2050-01-01T00:00:00.000Z')
  const passed = String(page.body['next_cursor'])
  note('listNotifications', 'cursor_expired', await native.recipient.get(`/v1/notifications?after=${passed}`))
})

test('[API-02] each operation answered exactly the problems that its description lists', () => {
  for (const id of OPERATION_IDS)
    assert.deepEqual([...(answered.get(id) ?? [])].toSorted(), problemsOf(operations[id]).toSorted(), id)
})
