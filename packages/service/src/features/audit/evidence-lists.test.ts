import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PackageEvidence } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  type Organization,
} from '@agent-exchange/testkit'

const LIMIT = 10
const world = await startWorld({ profile: { 'O-07': { default_limit: LIMIT, maximum_limit: LIMIT } } })
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

async function pagesOf(by: Organization, packageId: string, limit = LIMIT): Promise<PackageEvidence[]> {
  const pages: PackageEvidence[] = []
  for (let cursor = ''; pages.length < 100;) {
    const answer = await by.get(`/v1/audit/packages/${packageId}?limit=${limit}${cursor}`)
    assertSuccess(answer, 'getPackageAuditEvidence')
    const page = answer.body as unknown as PackageEvidence
    pages.push(page)
    assert.equal(page.has_more, page.next_cursor !== null)
    if (page.next_cursor === null) break
    cursor = `&after=${page.next_cursor}`
  }
  return pages
}

test('[AUD-01][O-07] a truncated list of receipts says so, and the cursor leads to the rest', async () => {
  const { metadata } = await sendPackage(seats, cars)
  for (let index = 0; index < 13; index++) await sendReceipt(cars, metadata, 'rejected')
  await sendReceipt(cars, metadata, 'opened')
  for (const limit of [1, 4, LIMIT]) {
    const pages = await pagesOf(seats, metadata.package_id, limit)
    assert.equal(pages[0]?.has_more, true)
    for (const { entries, receipts } of pages) assert.ok(entries.length <= limit && receipts.length <= limit)
    const receipts = pages.flatMap((page) => page.receipts)
    assert.deepEqual(
      receipts.map(({ state }) => state),
      [...Array(13).fill('rejected'), 'opened'],
    )
    assert.equal(new Set(receipts.map(({ receipt_id }) => receipt_id)).size, 14)
    // Each receipt is on the same page as its chain entry.
    for (const page of pages) {
      const recorded = page.entries.filter(({ proof }) => proof.kind.startsWith('receipt_'))
      assert.deepEqual(
        page.receipts.map(({ receipt_id }) => receipt_id),
        recorded.map(({ proof }) => Reflect.get(proof, 'receipt_id') as string),
      )
    }
  }
  assertProblem(await seats.get(`/v1/audit/packages/${metadata.package_id}?limit=11`), 'validation_failed')
})

/** Adds deliveries of the package's events with seven attempts each, several at the same time. */
async function addAttempts(owner: Organization, packageId: string, deliveries: number): Promise<void> {
  const endpoint = await owner.post('/v1/webhook-endpoints', { url: 'https://a.example/h', event_types: [] })
  const endpointId = String(endpoint.body['webhook_endpoint_id'])
  await world.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, next_attempt_at, created_at, finished_at)
    select 'dlv_' || ${packageId} || n, ${endpointId}, ${owner.organizationId}, ${packageId}, 'ntf_' || n, 'evt_' || n, 'dead',
      now(), now(), now() from generate_series(1, ${deliveries}) as n`
  await world.sql`
    insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
    select 'dlv_' || ${packageId} || n, attempt, '2026-03-02T08:00:00Z'::timestamptz + attempt * interval '1 minute',
      'retry', '{}' from generate_series(1, ${deliveries}) as n, generate_series(1, 7) as attempt`
}

test('[AUD-01][O-07] delivery attempts are paged with the same cursor, in order, each once, for their owner only', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await addAttempts(cars, metadata.package_id, 5)
  const pages = await pagesOf(cars, metadata.package_id)
  assert.ok(pages.every((page) => page.delivery_attempts.length <= LIMIT))
  const attempts = pages.flatMap((page) => page.delivery_attempts)
  assert.equal(attempts.length, 35)
  assert.equal(new Set(attempts.map(({ delivery_id, attempt }) => `${delivery_id} ${attempt}`)).size, 35)
  const times = attempts.map(({ attempted_at }) => attempted_at)
  assert.deepEqual(times, times.toSorted())
  // The chain was complete on the first page and is empty on the following ones.
  assert.deepEqual(
    pages.map(({ entries }) => entries.length),
    [4, 0, 0, 0],
  )
  const [own, ...more] = await pagesOf(seats, metadata.package_id)
  assert.deepEqual([own?.delivery_attempts, more.length], [[], 0])
})
