import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendPackage, startWorld } from '@agent-exchange/testkit'

// Without delivery workers: states change only here.
const world = await startWorld({ config: { role: 'api' } })
after(() => world[Symbol.asyncDispose]())
const { sql } = world
const sender = await world.organization('sender')
const owner = await world.organization('owner')

interface History {
  readonly intervals: Record<'delivered' | 'retried' | 'failed' | 'dead', number>[]
  readonly pending: number
  readonly oldest_pending_at: string | null
}

async function endpoint(): Promise<string> {
  const { body } = await owner.post('/v1/webhook-endpoints', {
    url: 'https://receiver.example/hook',
    event_types: ['package.accepted'],
  })
  return String(body['webhook_endpoint_id'])
}
const shown = async (id: string) => (await world.operate('GET', `/endpoints/${id}`)).body
const finish = (id: string, state: string, attempt: number) =>
  sql`update delivery set state = ${state}, attempt = ${attempt}, finished_at = now() where delivery_id = ${id}`

test('[EVT-12] an endpoint shows its last day by hours, and replays its last failed delivery', async () => {
  const id = await endpoint()
  for (let index = 0; index < 5; index++) await sendPackage(sender, owner)
  const deliveries = await sql<{ delivery_id: string }[]>`
    select delivery_id from delivery where webhook_endpoint_id = ${id} order by delivery_id`
  const ids = deliveries.map(({ delivery_id }) => delivery_id)
  for (const [index, [state, attempt]] of (
    [
      ['delivered', 1],
      ['delivered', 3],
      ['failed', 1],
      ['dead', 7],
    ] as const
  ).entries())
    await finish(ids[index] ?? '', state, attempt)
  const { history, last_failed_delivery_id: last } = await shown(id)
  const { intervals, pending, oldest_pending_at } = history as History
  assert.equal(intervals.length, 24)
  const sum = (name: keyof History['intervals'][number]) =>
    intervals.reduce((total, each) => total + each[name], 0)
  assert.deepEqual([sum('delivered'), sum('retried'), sum('failed'), sum('dead'), pending], [2, 1, 1, 1, 1])
  assert.ok(oldest_pending_at)
  assert.equal(last, ids[3])

  const replay = await world.operate('POST', `/endpoints/${id}/replay-last-failed`, { reason: 'mended' })
  assert.deepEqual([replay.status, replay.body['replay_of'], replay.body['state']], [201, ids[3], 'pending'])
  // What is under way again is left out: the next one is the failed one before it, and then there is none.
  const next = await world.operate('POST', `/endpoints/${id}/replay-last-failed`, { reason: 'mended' })
  assert.equal(next.body['replay_of'], ids[2])
  const none = await world.operate('POST', `/endpoints/${id}/replay-last-failed`, { reason: 'mended' })
  assert.equal(none.status, 404)
  assert.equal((await world.operate('POST', `/endpoints/${id}/replay-last-failed`, {})).status, 422)
})

test('an endpoint without a failed delivery has none to replay', async () => {
  const id = await endpoint()
  assert.equal((await shown(id))['last_failed_delivery_id'], null)
  for (const target of [id, 'whe_none']) {
    const { status } = await world.operate('POST', `/endpoints/${target}/replay-last-failed`, { reason: 'r' })
    assert.equal(status, 404)
  }
})
