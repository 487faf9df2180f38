import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Transaction } from '@agent-exchange/database'
import type { AnswerOf, BatchMutation, Call, Mutation } from './call.ts'
import { handMadeCall } from './hand-made-call.fixture.ts'
import { createMutationPipeline } from './mutation-pipeline.ts'
import { Problem } from './problem.ts'
import { RoleRefusal } from './roles.ts'

const database = await openTestDatabase()
const { db } = database
await db`create table effect (name text primary key)`
after(() => database[Symbol.asyncDispose]())

const STATUS = 299
const open = () =>
  createMutationPipeline(db, (operation, resource) => ({
    status: STATUS,
    body: JSON.stringify([operation, resource]),
  }))

type Ack = Call<'acknowledgeNotification'>
/** What a call does is in the test's hands; its path parameter names the effect. */
const callOf = (name: string, idempotencyKey: string): Ack =>
  handMadeCall('acknowledgeNotification', {
    params: { notification_id: name },
    query: {},
    body: {
      event_id: 'evt_a',
      disposition: 'stored',
      stored_at: '2026-03-02T08:00:00Z',
      last_contiguous_sequence: 1,
    },
    idempotencyKey,
  })

const answerTo = (call: Ack) =>
  ({ name: call.params.notification_id }) as unknown as AnswerOf<'acknowledgeNotification'>

async function write(tx: Transaction, name: string): Promise<void> {
  await tx`insert into effect (name) values (${name})`
}

const effects = async (prefix: string) =>
  (await db<{ name: string }[]>`select name from effect where name like ${`${prefix}%`} order by name`).map(
    ({ name }) => name,
  )

const single: Mutation<'acknowledgeNotification'> = {
  authorize: () => undefined,
  async run(call, tx) {
    await write(tx, call.params.notification_id)
    if (call.params.notification_id.endsWith('refused')) throw new Problem('package_expired')
    return answerTo(call)
  },
}

function batchMutation() {
  const sizes: number[] = []
  const mutation: BatchMutation<'acknowledgeNotification', void, number> = {
    authorize: () => undefined,
    queue: 'acknowledgements',
    readBatch: async (calls) => calls.length,
    async runBatch(calls, tx, size) {
      sizes.push(size)
      const outcomes = []
      for (const { call } of calls) {
        const { notification_id: name } = call.params
        if (name.endsWith('refused')) {
          outcomes.push(new Problem('package_expired'))
          continue
        }
        // A poisoned request: PostgreSQL refuses the statement, and with it the transaction.
        await (name.endsWith('poison') ? tx`select 1 / 0` : write(tx, name))
        outcomes.push(answerTo(call))
      }
      return outcomes
    },
  }
  return { mutation, sizes }
}

const isProblem = (code: string) => (error: unknown) => error instanceof Problem && error.code === code

test('[API-04][API-05] a single mutation is recorded once; its problem rolls everything back and leaves the key free', async () => {
  const pipeline = open()
  const submit = (name: string, key: string) =>
    pipeline.submit('acknowledgeNotification', single, callOf(name, key))
  await assert.rejects(submit('one-refused', 'one'), isProblem('package_expired'))
  const [first, retry] = await Promise.all([submit('one-done', 'one'), submit('one-done', 'one')])
  for (const { status, body } of [first, retry])
    assert.deepEqual([status, body], [STATUS, '["acknowledgeNotification",{"name":"one-done"}]'])
  await assert.rejects(submit('one-other', 'one'), isProblem('idempotency_key_reuse'))
  assert.deepEqual(await effects('one'), ['one-done'])
})

test('[API-04][API-05] in a batch a problem, a poisoned request and a repeated key affect no other call', async () => {
  const pipeline = open()
  const { mutation, sizes } = batchMutation()
  const submit = (name: string, key: string) =>
    pipeline.submit('acknowledgeNotification', mutation, callOf(name, key))
  const [a, refused, repeated, b] = await Promise.allSettled([
    submit('two-a', 'a'),
    submit('two-refused', 'r'),
    submit('two-a', 'a'),
    submit('two-b', 'b'),
  ])
  // The repeated key leaves the batch and finds the record of the first call.
  assert.deepEqual(sizes, [4])
  assert.ok(a.status === 'fulfilled' && repeated.status === 'fulfilled' && b.status === 'fulfilled')
  assert.equal(repeated.value.body, a.value.body)
  assert.ok(refused.status === 'rejected' && isProblem('package_expired')(refused.reason))
  const settled = await Promise.allSettled(['c', 'poison', 'd'].map((name) => submit(`two-${name}`, name)))
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(sizes, [4, 3, 1, 1, 1])
  assert.deepEqual(await effects('two'), ['two-a', 'two-b', 'two-c', 'two-d'])
  const [{ count } = { count: 0 }] = await db<{ count: number }[]>`
    select count(*)::int as count from idempotency_record where body like '%two-%'`
  assert.equal(count, 4)
  assert.equal((await submit('two-refused2', 'r')).status, STATUS)
})

test('[API-04] a claim that another process holds leaves the batch, which commits without it', async () => {
  const { mutation } = batchMutation()
  const held = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const slow: typeof mutation = {
    ...mutation,
    async runBatch(calls, tx, size) {
      waiting.resolve()
      await held.promise
      return mutation.runBatch(calls, tx, size)
    },
  }
  const other = open().submit('acknowledgeNotification', slow, callOf('three-a', 'three'))
  await waiting.promise
  const pipeline = open()
  const submit = (name: string, key: string) =>
    pipeline.submit('acknowledgeNotification', mutation, callOf(name, key))
  const [same, neighbour] = [submit('three-a', 'three'), submit('three-b', 'three-b')]
  assert.equal((await neighbour).status, STATUS)
  held.resolve()
  assert.equal((await same).body, (await other).body)
  assert.deepEqual(await effects('three'), ['three-a', 'three-b'])
})

test('mutations with the same runBatch share a batch, and each is recorded under its own operation', async () => {
  const pipeline = open()
  const { mutation, sizes } = batchMutation()
  const answers = await Promise.all([
    pipeline.submit('acknowledgeNotification', mutation, callOf('four-a', 'four')),
    pipeline.submit(
      'createPackageResponse',
      mutation as unknown as BatchMutation<'createPackageResponse'>,
      callOf('four-b', 'four') as unknown as Call<'createPackageResponse'>,
    ),
  ])
  assert.deepEqual(sizes, [2])
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['["acknowledgeNotification",{"name":"four-a"}]', '["createPackageResponse",{"name":"four-b"}]'],
  )
})

test('[AUTH-03] a caller without permission learns nothing of a recorded answer', async () => {
  const pipeline = open()
  const first = await pipeline.submit('acknowledgeNotification', single, callOf('five', 'five'))
  const refusing = (problem: Problem) => ({ ...single, authorize: () => Promise.reject(problem) })
  const resubmit = (problem: Problem) =>
    pipeline.submit('acknowledgeNotification', refusing(problem), callOf('five', 'five'))
  await assert.rejects(resubmit(new RoleRefusal()), isProblem('not_permitted'))
  // API-05: what changed since then does not matter.
  const again = await resubmit(new Problem('not_permitted', { reason: 'agent_not_active' }))
  assert.deepEqual([again.status, again.body], [first.status, first.body])
  await assert.rejects(resubmit(new Problem('service_overloaded')), isProblem('service_overloaded'))
})
