import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPERATION_IDS, operations } from '@agent-exchange/protocol'
import {
  assertProblem,
  draftPackage,
  freshId,
  receiptBody,
  revocationBody,
  sendPackage,
  setScene,
  startWorld,
  type Answer,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld({
  profile: { 'O-13': { webhook_endpoints: 1_000 } },
  config: { role: 'api' },
})
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)
const { sender, recipient, standing } = scene
const MUTATIONS = OPERATION_IDS.filter((id) => operations[id].mutation)

/** Rows that a second effect would add or change. */
async function effects(): Promise<unknown> {
  const tables = [
    'agent',
    'agent_key',
    'agent_key_event',
    'policy_receipt',
    'thread',
    'package',
    'package_receipt',
    'package_revocation',
    'audit_record',
    'webhook_endpoint',
    'notification',
    'notification_acknowledgement',
    'idempotency_record',
  ]
  return Promise.all(
    tables.map((table) =>
      world.sql`select md5(string_agg(t::text, '' order by t::text)) from ${world.sql(table)} t`.then(
        ([row]) => [table, row?.['md5']],
      ),
    ),
  )
}

test('[API-04] an exact retry returns the bytes of the first response and has no second effect', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const request = await scene.make(id)
      const first = await request.send({ idempotencyKey: `retry-${id}`, correlationId: 'first' })
      assert.equal(first.status, operations[id].success.status, first.text)
      const before = await effects()
      world.clock.advance(1)
      const again = await request.send({ idempotencyKey: `retry-${id}`, correlationId: 'second' })
      assert.deepEqual([again.status, again.text], [first.status, first.text])
      assert.equal(again.headers.get('x-correlation-id'), 'second')
      // Requests are compared as JSON values, not as text.
      const rewritten = JSON.stringify(
        Object.fromEntries(Object.entries(request.body ?? {}).toReversed()),
        null,
        2,
      )
      const third = await request.by.post(request.path, undefined, {
        raw: rewritten,
        idempotencyKey: `retry-${id}`,
      })
      assert.deepEqual([third.status, third.text], [first.status, first.text])
      assert.deepEqual(await effects(), before)
    })
  }
})

test('[API-05] every operation refuses the same key with different content', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const [first, other] = [await scene.make(id), await scene.make(id)]
      const options = { idempotencyKey: `reuse-${id}` }
      const original = await first.send(options)
      assert.ok(original.status < 300, original.text)
      const before = await effects()
      const changed = id === 'acknowledgeNotification' || id === 'createWebhookEndpoint'
      const answer = changed
        ? await first.by.post(first.path, { ...first.body, ...differing(id) }, options)
        : await other.send(options)
      assertProblem(answer, 'idempotency_key_reuse')
      assert.equal(answer.text.includes(options.idempotencyKey), false)
      assert.deepEqual(await effects(), before)
      assert.equal((await first.send(options)).text, original.text)
    })
  }
})

function differing(id: string): object {
  return id === 'createWebhookEndpoint' ? { event_types: ['other'] } : { last_contiguous_sequence: 2 }
}

test('[API-04][O-21] the scope of a key is one operation of one organization', async () => {
  const idempotencyKey = freshId('shared')
  for (const id of MUTATIONS) {
    const answer = await (await scene.make(id)).send({ idempotencyKey })
    assert.equal(answer.status, operations[id].success.status, `${id} ${answer.text}`)
  }
  const body = { url: 'https://agent.example/other', event_types: [] }
  const answer = await recipient.post('/v1/webhook-endpoints', body, { idempotencyKey })
  assert.equal(answer.status, 201, answer.text)
})

test('[API-05][O-21] by default a key used for one package conflicts with another package; with scope by path it does not', async () => {
  await using byPath = await startWorld({ profile: { 'O-21': { scope: 'path' } } })
  for (const [exchange, expected] of [
    [world, 409],
    [byPath, 201],
  ] as const) {
    const [from, to] = await Promise.all([exchange.organization('from'), exchange.organization('to')])
    const drafts = [await sendPackage(from, to), await sendPackage(from, to)]
    const statuses: number[] = []
    for (const { metadata } of drafts) {
      const body = await receiptBody(to, metadata, 'received')
      const answer = await to.post(`/v1/packages/${metadata.package_id}/receipts`, body, {
        idempotencyKey: 'one',
      })
      statuses.push(answer.status)
    }
    assert.deepEqual(statuses, [201, expected])
  }
})

test('[API-05][O-48] a refused request does not use up its key', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const request = await scene.make(id)
      const options = { idempotencyKey: `free-${id}` }
      assert.equal(
        (await request.by.post(request.path, { ...request.body, unknown: 1 }, options)).status,
        422,
      )
      const answer = await request.send(options)
      assert.equal(answer.status, operations[id].success.status, answer.text)
    })
  }
  // Refused inside the transaction, after the key was claimed.
  const draft = await draftPackage(sender, recipient)
  const options = { idempotencyKey: 'free-inside' }
  assertProblem(await sender.post('/v1/packages', draft.body, options), 'policy_receipt_missing')
  await sender.post('/v1/policy-receipts', draft.receipt)
  assert.equal((await sender.post('/v1/packages', draft.body, options)).status, 202)
})

/** Changes that make a request invalid, in the order in which the service would refuse them. */
const INVALID: Record<string, (request: Prepared) => Promise<Answer>> = {
  'is not JSON': ({ by, path, options }) => by.post(path, undefined, { ...options, raw: '{"a":' }),
  'repeats a member': ({ by, path, options }) =>
    by.post(path, undefined, { ...options, raw: '{"a":1,"a":2}' }),
  'is not valid': ({ by, path, body, options }) => by.post(path, { ...body, unknown: 1 }, options),
  'names nothing that exists': ({ by, path, body, options }) =>
    by.post(
      path.replace(/(?<=(agents|packages|notifications)\/)[^/]+(?=\/)/, 'none'),
      { ...body, unknown: 1 },
      options,
    ),
}
interface Prepared {
  readonly by: Organization
  readonly path: string
  readonly body: object | undefined
  readonly options: { readonly idempotencyKey: string }
}

test('[API-05] a used key with invalid content is a reuse of the key, and an unused one says what is invalid', async (t) => {
  for (const id of MUTATIONS) {
    await t.test(id, async () => {
      const { by, path, body, send } = await scene.make(id)
      const options = { idempotencyKey: `invalid-${id}` }
      const original = await send(options)
      assert.ok(original.status < 300, original.text)
      const before = await effects()
      for (const [name, post] of Object.entries(INVALID)) {
        const free = await post({ by, path, body, options: { idempotencyKey: freshId('free') } })
        assert.notEqual(free.body['code'], 'idempotency_key_reuse', name)
        assertProblem(await post({ by, path, body, options }), 'idempotency_key_reuse')
      }
      assert.deepEqual(await effects(), before)
      assert.equal((await send(options)).text, original.text)
    })
  }
})

test('[API-05][AUTH-03] other content that the caller may not send, or with a wrong signature, is a reuse too', async () => {
  const request = await scene.make('createPackageTransfer')
  const options = { idempotencyKey: freshId('k') }
  const original = await request.send(options)
  assert.equal(original.status, 202)
  const { body: foreign } = await draftPackage(recipient, sender)
  const { body: other } = await draftPackage(sender, recipient)
  const signature = (request.body as { signature: string }).signature
  for (const body of [foreign, { ...other, signature }])
    assertProblem(await sender.post('/v1/packages', body, options), 'idempotency_key_reuse')
  assert.equal((await request.send(options)).text, original.text)
})

test('[API-05] an exact retry gets the original response after the agent was retired; a new request does not', async (t) => {
  const own = await startWorld({ config: { role: 'api' } })
  await using _ = own
  const mine = await setScene(own)
  const prepared: [string, Awaited<ReturnType<typeof mine.make>>, Answer][] = []
  for (const id of MUTATIONS) {
    const request = await mine.make(id)
    prepared.push([id, request, await request.send({ idempotencyKey: `retired-${id}` })])
  }
  const unsent = await mine.make('createPackageTransfer')
  // The signer of a revocation is looked for among active agents only, before the key is claimed.
  const lone = await own.organization('lone')
  const { metadata } = await sendPackage(lone, mine.recipient)
  const revocation = await revocationBody(lone, metadata)
  const revoke = () =>
    lone.post(`/v1/packages/${metadata.package_id}/revoke`, revocation, { idempotencyKey: 'k' })
  const revoked = await revoke()
  assert.equal(revoked.status, 200, revoked.text)
  for (const { agentId } of [mine.sender, mine.recipient, lone])
    assert.equal(
      (await own.operate('POST', `/agents/${agentId}/status`, { status: 'retired', reason: 'test' })).status,
      200,
    )
  for (const [id, request, original] of prepared)
    await t.test(id, async () => {
      const again = await request.send({ idempotencyKey: `retired-${id}` })
      assert.deepEqual([again.status, again.text], [original.status, original.text])
    })
  assert.equal((await revoke()).text, revoked.text)
  assertProblem(await unsent.send(), 'not_permitted', { reason: 'agent_not_active' })
})

test('[API-04] a retry gets the recorded response even after the signing key or the package was revoked, answered or expired', async () => {
  await using own = await startWorld()
  const [from, to] = await Promise.all([own.organization('from'), own.organization('to')])
  const draft = await draftPackage(from, to)
  await from.post('/v1/policy-receipts', draft.receipt, { idempotencyKey: 'r' })
  const first = await from.post('/v1/packages', draft.body, { idempotencyKey: 'k' })
  assert.equal(first.status, 202)
  const receipt = await receiptBody(to, draft.metadata, 'received')
  const receiptPath = `/v1/packages/${draft.metadata.package_id}/receipts`
  const received = await to.post(receiptPath, receipt, { idempotencyKey: 'k' })
  for (const who of [from, to]) {
    const body = { invalid_from: '2026-01-01T00:00:00Z', reason_code: 'lost', evidence_reference: 'case' }
    const path = `/v1/agents/${who.agentId}/keys/${who.signing.keyId}/revoke`
    assert.equal((await who.post(path, body)).status, 200)
  }
  own.clock.advance(2 * 86_400)
  assertProblem(
    await from.post('/v1/packages', draft.body, { idempotencyKey: 'other' }),
    'identifier_conflict',
  )
  assert.equal((await from.post('/v1/packages', draft.body, { idempotencyKey: 'k' })).text, first.text)
  assert.equal((await to.post(receiptPath, receipt, { idempotencyKey: 'k' })).text, received.text)
})

test('[API-04][AUTH-03] a retry by another organization or by a disabled client reveals nothing', async () => {
  const request = await scene.make('createPackageReceipt')
  const options = { idempotencyKey: freshId('mine') }
  const first = await request.send(options)
  assert.equal(first.status, 201)
  const answer = await sender.post(request.path, request.body, options)
  assert.ok(answer.status >= 400 && answer.status !== 409, answer.text)
  assert.equal(answer.text.includes(standing.metadata.content_digest), false)
})
