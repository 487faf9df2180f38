import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NotificationPage, PackageResource } from '@agent-exchange/protocol'
import {
  brokenLinks,
  draftPackage,
  freshId,
  organizations,
  receiptBody,
  sendPackage,
  startWorld,
  type Answer,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const outcomes = (answers: readonly Answer[]) =>
  answers.map(({ status, body }) => (status < 300 ? status : body['code']))

test('[POL-01][API-04] policy receipts that arrive together: a problem of one is no problem of its neighbours', async () => {
  const drafts = await Promise.all(Array.from({ length: 12 }, () => draftPackage(seats, cars)))
  const receipts = drafts.map(({ receipt }) => receipt)
  const [first] = receipts
  assert.ok(first)
  const broken = { ...first, statement: 'altered' }
  const future = (await draftPackage(seats, cars, { receipt: { evaluated_at: '2020-01-01T00:00:00Z' } }))
    .receipt
  const bodies = [...receipts, broken, future, first]
  const answers = await Promise.all(bodies.map((body) => seats.post('/v1/policy-receipts', body)))
  const found = outcomes(answers)
  assert.deepEqual(found.slice(1, 14), [
    ...Array.from({ length: 11 }, () => 201),
    'signature_invalid',
    'signing_key_unusable',
  ])
  // The same receipt under two keys: one of them came first.
  assert.deepEqual(new Set([found[0], found[14]]), new Set([201, 'identifier_conflict']))
  const rows = await world.sql`
    select from policy_receipt where policy_receipt_id = any(${receipts.map((each) => each.policy_receipt_id)})`
  assert.equal(rows.length, 12)
})

test('[API-04][API-05] the same key many times at once has one effect, and other content under it none', async () => {
  const { receipt } = await draftPackage(seats, cars)
  const other = (await draftPackage(seats, cars)).receipt
  const idempotencyKey = freshId('key')
  const post = (body: object) => seats.post('/v1/policy-receipts', body, { idempotencyKey })
  const [original] = [await post(receipt)]
  const again = await Promise.all(Array.from({ length: 10 }, (_, index) => post(index % 2 ? other : receipt)))
  for (const [index, answer] of again.entries()) {
    if (index % 2) assert.equal(answer.body['code'], 'idempotency_key_reuse')
    else assert.equal(answer.text, original?.text)
  }
  const rows =
    await world.sql`select from policy_receipt where policy_receipt_id = ${other.policy_receipt_id}`
  assert.equal(rows.length, 0)
})

test('[PKG-08][PKG-11][EVT-04] receipts that arrive together build on each other: one chain, no gap, the furthest state', async () => {
  const threadId = freshId('thread')
  const packages = []
  for (let count = 0; count < 4; count++)
    packages.push((await sendPackage(seats, cars, { threadId })).metadata)
  const [first] = packages
  assert.ok(first)
  const bodies = await Promise.all(
    packages.flatMap((metadata) =>
      ['received', 'opened', 'rejected'].map(async (state) => ({
        path: `/v1/packages/${metadata.package_id}/receipts`,
        body: await receiptBody(cars, metadata, state),
      })),
    ),
  )
  const wrong = { path: bodies[0]?.path ?? '', body: { ...bodies[1]?.body, state: 'received' } }
  // A statement that names no package, under two of them.
  const plain = await receiptBody(cars, first, 'received', { form: 'plain' })
  const elsewhere = packages.slice(0, 2).map(({ package_id }) => ({
    path: `/v1/packages/${package_id}/receipts`,
    body: { ...plain },
  }))
  const answers = await Promise.all(
    [...bodies, wrong, ...elsewhere].map(({ path, body }) => cars.post(path, body)),
  )
  const found = outcomes(answers)
  assert.deepEqual(found.slice(0, 13), [...Array.from({ length: 12 }, () => 201), 'signature_invalid'])
  // Of another package its digest is wrong already.
  assert.deepEqual(found.slice(13), [201, 'digest_mismatch'])
  for (const { package_id } of packages) {
    const { state } = (await seats.get(`/v1/packages/${package_id}`)).body as unknown as PackageResource
    assert.equal(state, 'opened')
  }
  assert.equal(await brokenLinks(world, threadId), 0)
  const page = (await cars.get('/v1/notifications?limit=100')).body as unknown as NotificationPage
  assert.deepEqual(
    page.items.map(({ sequence }) => sequence),
    page.items.map((_, index) => index + 1),
  )
})

test('[EVT-11] acknowledgements that arrive together: the first word about each counts, strangers get nothing', async () => {
  await sendPackage(seats, cars)
  const { items } = (await cars.get('/v1/notifications?limit=5')).body as unknown as NotificationPage
  const word = (index: number, mark: number) => {
    const { notification_id, event_id } = items[index] ?? { notification_id: '', event_id: '' }
    const body = {
      event_id,
      disposition: 'stored',
      stored_at: world.clock.now(),
      last_contiguous_sequence: mark,
    }
    return { path: `/v1/notifications/${notification_id}/ack`, body }
  }
  const words = [word(0, 1), word(1, 2), word(0, 3), word(2, 4)]
  const answers = await Promise.all([
    ...words.map(({ path, body }) => cars.post(path, body)),
    seats.post(word(0, 9).path, word(0, 9).body),
    cars.post(word(3, 1).path, { ...word(3, 1).body, event_id: 'evt_other' }),
  ])
  assert.deepEqual(outcomes(answers), [200, 200, 200, 200, 'resource_not_found', 'acknowledgement_mismatch'])
  // Both get the response to whichever came first.
  assert.equal(answers[2]?.text, answers[0]?.text)
})
