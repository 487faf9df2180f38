import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { OperationId } from '@agent-exchange/protocol'
import { setScene, startWorld, type Answer, type OperationRequest } from '@agent-exchange/testkit'

const first = await startWorld()
const second = await startWorld({ beside: first })
after(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})
const scene = await setScene(first)
const TIMES = 50

/** Sends the same request many times concurrently to both processes. */
function storm(request: OperationRequest, keys: (index: number) => string): Promise<Answer[]> {
  const at = [first.url, second.url]
  return Promise.all(
    Array.from({ length: TIMES }, (_, index) =>
      request.send({ idempotencyKey: keys(index), at: at[index % 2] ?? first.url }),
    ),
  )
}

const COUNTED: [id: OperationId, table: string][] = [
  ['createPackageTransfer', 'package'],
  ['createPackageResponse', 'package'],
  ['registerAgent', 'agent'],
  ['registerAgentKey', 'agent_key_event'],
  ['createPolicyReceipt', 'policy_receipt'],
  ['createPackageReceipt', 'package_receipt'],
  ['revokePackage', 'package_revocation'],
  ['createWebhookEndpoint', 'webhook_endpoint'],
]

test(`[API-04] ${TIMES} concurrent equal requests to two processes: one effect, ${TIMES} equal responses`, async (t) => {
  for (const [id, table] of COUNTED) {
    await t.test(id, async () => {
      const request = await scene.make(id)
      const before = await count(table)
      const answers = await storm(request, () => `storm-${id}`)
      assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1, id)
      assert.ok((answers[0]?.status ?? 500) < 300, answers[0]?.text)
      assert.equal((await count(table)) - before, 1)
    })
  }
})

test('[API-04] equal requests with different keys are distinct: one is accepted, the others conflict', async () => {
  const request = await scene.make('createPackageTransfer')
  const before = await count('package')
  const answers = await storm(request, (index) => `apart-${index}`)
  assert.equal((await count('package')) - before, 1)
  assert.equal(answers.filter(({ status }) => status === 202).length, 1)
  for (const { status, text } of answers) assert.ok(status === 202 || status === 409, text)
})

test('[API-05] two concurrent requests with one key and different content: one is accepted, the other is refused', async () => {
  for (let round = 0; round < 5; round++) {
    const requests = [await scene.make('createPackageTransfer'), await scene.make('createPackageTransfer')]
    const answers = await Promise.all(
      requests.map((request, index) =>
        request.send({ idempotencyKey: `two-${round}`, at: index === 0 ? first.url : second.url }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202, 409]))
    const refused = answers.find(({ status }) => status === 409)
    assert.equal(refused?.body['code'], 'idempotency_key_reuse')
  }
})

async function count(table: string): Promise<number> {
  const [row] = await first.sql`select count(*)::int as count from ${first.sql(table)}`
  return Number(row?.['count'])
}
