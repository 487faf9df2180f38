import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, test } from 'node:test'
import { OPERATION_IDS, operations, type PublicKey } from '@agent-exchange/protocol'
import { assertProblem, assertSuccess, freshId, setScene, startWorld } from '@agent-exchange/testkit'

const CANARY = 'canary7733'
const world = await startWorld({
  profile: { 'O-29': { unknown_members: 'ignored' } },
  config: { role: 'api' },
})
after(() => world[Symbol.asyncDispose]())
const scene = await setScene(world)

const IGNORED = [
  'registerAgent',
  'registerAgentKey',
  'revokeAgentKey',
  'createWebhookEndpoint',
  'acknowledgeNotification',
] as const
const SIGNED = OPERATION_IDS.filter(
  (id) => operations[id].mutation && !(IGNORED as readonly string[]).includes(id),
)

test('[O-29] if a deployment ignores unknown members, they have no effect and are not stored', async () => {
  for (const id of IGNORED) {
    const { by, path, body } = await scene.make(id)
    assertSuccess(await by.post(path, { [CANARY]: { [CANARY]: [CANARY] }, ...body }), id)
  }
  const { by, path, body } = await scene.make('registerAgent')
  const { keys } = body as { keys: object[] }
  const deeper = { ...body, agent_id: freshId('agent'), keys: keys.map((key) => ({ ...key, [CANARY]: 1 })) }
  assertSuccess(await by.post(path, deeper), 'registerAgent')
  assert.equal(await isStored(CANARY), false)
  assert.equal(world.logged.join('').includes(CANARY), false)
})

test('[O-29] required members are still required', async () => {
  const { by, path, body } = await scene.make('createWebhookEndpoint')
  const answer = await by.post(path, { ...body, url: undefined, [CANARY]: 'https://receiver.example/' })
  assertProblem(answer, 'validation_failed')
})

test('[O-29][POL-02][PKG-01] unknown members in signed bodies are always refused', async () => {
  assert.deepEqual(SIGNED, [
    'createPolicyReceipt',
    'createPackageTransfer',
    'createPackageReceipt',
    'createPackageResponse',
    'revokePackage',
  ])
  for (const id of SIGNED) {
    const { by, path, body } = await scene.make(id)
    const answer = await by.post(path, { ...body, [CANARY]: CANARY })
    assertProblem(answer, 'validation_failed', undefined, id)
    assert.equal(answer.text.includes(CANARY), false)
  }
})

test('[ID-06][O-29] private key parts are refused even if unknown members are ignored', async () => {
  const { by, path, body } = await scene.make('registerAgentKey')
  const { public_key } = body as { public_key: object }
  const exposed = [
    { ...body, private_key: { ...public_key, d: CANARY } },
    { ...body, public_key: { ...public_key, other: [{ d: CANARY }] } },
  ]
  for (const each of exposed) {
    const answer = await by.post(path, each)
    assertProblem(answer, 'private_key_refused')
    assert.equal(answer.text.includes(CANARY), false)
  }
})

test('[ID-06] other public members of a JWK are accepted but not stored, and no URL in them is fetched', async () => {
  let requests = 0
  await using server = createServer((_request, response) => {
    requests++
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const { by, path, body } = await scene.make('registerAgentKey')
  const key = body as unknown as PublicKey
  const public_key = {
    ...key.public_key,
    kid: 'k',
    iat: 1,
    x5t: 'AA',
    x5c: ['A'.repeat(3_000)],
    x5u: `http://127.0.0.1:${port}/x5u`,
    jku: `http://127.0.0.1:${port}/jku`,
    [CANARY]: { note: CANARY },
  }
  const answer = await by.post(path, { ...key, public_key })
  assertSuccess(answer, 'registerAgentKey')
  assert.deepEqual(answer.body['public_key'], key.public_key)
  assert.equal(await isStored(CANARY), false)
  assert.equal(requests, 0)
})

async function isStored(text: string): Promise<boolean> {
  const tables = await world.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace`
  const found = await Promise.all(
    tables.map(
      ({ name }) => world.sql`select 1 from ${world.sql(name)} as t where t::text like ${`%${text}%`}`,
    ),
  )
  return found.some((rows) => rows.length > 0)
}
