import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EvidenceEntry, PackageResource, ThreadResource } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel, stranger] = await organizations(world, 'seats', 'cars', 'steel', 'stranger')

async function threadOf(by: Organization, threadId: string, query = '') {
  const answer = await by.get(`/v1/threads/${threadId}${query}`)
  assertSuccess(answer, 'getThread')
  return answer.body as unknown as ThreadResource
}
const idsOf = ({ packages }: Pick<ThreadResource, 'packages'>) => packages.map(({ package_id }) => package_id)

test('[PKG-13] a thread lists its packages in order of acceptance, both participants and one transport mode', async () => {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  // The order does not depend on created_at.
  const second = (
    await sendPackage(cars, seats, { threadId, metadata: { created_at: '2026-02-01T00:00:00Z' } })
  ).metadata
  const third = (await sendPackage(cars, seats, { threadId, respondsTo: first.package_id })).metadata
  for (const party of [seats, cars]) {
    const thread = await threadOf(party, threadId)
    assert.deepEqual(idsOf(thread), [first.package_id, second.package_id, third.package_id])
    assert.deepEqual(thread.participants.toSorted(), [seats.organizationId, cars.organizationId].toSorted())
    const { thread_id, transport_mode, protocol_version, state } = thread
    assert.deepEqual(
      [thread_id, transport_mode, protocol_version, state],
      [threadId, 'native', 'svc/1.0', 'active'],
    )
    const single = await party.get(`/v1/packages/${first.package_id}`)
    assert.deepEqual(thread.packages[0], single.body)
  }
})

test('[PKG-04][O-43] created_at of a package is the time of its acceptance, updated_at that of its last move', async () => {
  const claimed = { created_at: '2026-02-01T00:00:00Z' }
  const before = world.clock.now()
  const { package_id } = (await sendPackage(seats, cars, { metadata: claimed })).metadata
  const read = async () => (await cars.get(`/v1/packages/${package_id}`)).body as unknown as PackageResource
  const accepted = await read()
  assert.equal(accepted.metadata.created_at, claimed.created_at)
  assert.ok(before <= accepted.created_at && accepted.created_at <= world.clock.now())
  world.clock.advance(60)
  await sendReceipt(cars, accepted.metadata, 'received')
  const moved = await read()
  assert.equal(moved.created_at, accepted.created_at)
  assert.ok(moved.updated_at > accepted.updated_at)
})

const paths = (threadId: string, packageId: string) => [
  `/v1/threads/${threadId}`,
  `/v1/packages/${packageId}`,
  `/v1/audit/threads/${threadId}`,
  `/v1/audit/packages/${packageId}`,
  `/content/packages/${packageId}`,
]

test('[PKG-07][AUTH-03] a thread of other organizations gets the same problem as an unknown one', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const foreign = paths(metadata.thread_id, metadata.package_id)
  const nothing = paths(freshId('thread'), freshId('pkg'))
  for (const [index, path] of foreign.entries()) {
    const options = { correlationId: 'the-same' }
    const [there, nowhere] = [
      await stranger.get(path, options),
      await stranger.get(nothing[index] ?? '', options),
    ]
    assertProblem(there, 'resource_not_found', {})
    assert.equal(there.text, nowhere.text)
  }
})

test('[O-31][AUTH-03] an outsider cannot post into a thread, whatever the recipient, and learns nothing about it', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const { thread_id: threadId } = metadata
  for (const to of [seats, cars, steel, stranger]) {
    const answer = await submit(stranger, await draftPackage(stranger, to, { threadId }))
    assertProblem(answer, 'identifier_conflict', {})
  }
  assertProblem(await stranger.get(`/v1/threads/${threadId}`), 'resource_not_found')
  assert.deepEqual(idsOf(await threadOf(seats, threadId)), [metadata.package_id])
})

test('[O-31] of two organizations that create one thread id concurrently one succeeds', async () => {
  const threadId = freshId('thread')
  const mine = await draftPackage(seats, cars, { threadId })
  const theirs = await draftPackage(steel, stranger, { threadId })
  const answers = await Promise.all([submit(seats, mine), submit(steel, theirs)])
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 409],
  )
})

test('[O-31][PKG-07][AUD-01] a new recipient joins the thread and sees only its own packages and counterparties', async () => {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  const second = (await sendPackage(cars, steel, { threadId })).metadata
  const third = (await sendPackage(seats, cars, { threadId })).metadata
  const fourth = (await sendPackage(steel, cars, { threadId })).metadata

  const views: [Organization, string[], Organization[]][] = [
    [seats, [first.package_id, third.package_id], [seats, cars]],
    [cars, [first, second, third, fourth].map((each) => each.package_id), [seats, cars, steel]],
    [steel, [second.package_id, fourth.package_id], [cars, steel]],
  ]
  for (const [viewer, packages, participants] of views) {
    const thread = await threadOf(viewer, threadId)
    assert.deepEqual(idsOf(thread), packages)
    assert.deepEqual(
      thread.participants.toSorted(),
      participants.map(({ organizationId }) => organizationId).toSorted(),
    )
    const evidence = await viewer.get(`/v1/audit/threads/${threadId}`)
    const { entries } = evidence.body as unknown as { entries: EvidenceEntry[] }
    const targets = new Set(entries.flatMap(({ event }) => (event ? [event.target.object_id] : [])))
    assert.deepEqual([...targets], packages)
    const hidden = [seats, cars, steel].filter((each) => !participants.includes(each))
    for (const { organizationId, agentId } of hidden) {
      assert.ok(!evidence.text.includes(organizationId) && !evidence.text.includes(agentId))
      assert.ok(!JSON.stringify(thread).includes(organizationId))
    }
  }
  assertProblem(await steel.get(`/v1/packages/${first.package_id}`), 'resource_not_found')
  assertProblem(await seats.get(`/v1/audit/packages/${second.package_id}`), 'resource_not_found')
  // A participant that joined may address a third organization.
  await sendPackage(steel, stranger, { threadId })
  assert.equal(idsOf(await threadOf(stranger, threadId)).length, 1)
})

test('[API-06][O-31][O-40] in a thread with many packages of others a page may end early, and the next pages find the rest', async () => {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  await sendPackage(cars, steel, { threadId })
  // More packages between the two than one page scans; a page of evidence ends within the entries of the last one.
  await world.sql`
    insert into package select (json_populate_record(package, json_build_object(
      'package_id', 'pkg_filler_' || thread_id || number, 'thread_position', number))).*
    from package, generate_series(3, 5002) as number where thread_id = ${threadId} and thread_position = 2`
  await world.sql`
    insert into audit_record select (json_populate_record(audit_record, json_build_object(
      'first_position', number, 'last_position', number))).*
    from audit_record, generate_series(9, 4998) as number where thread_id = ${threadId} and last_position = 8`
  await world.sql`update thread set package_count = 5002, audit_count = 4998 where thread_id = ${threadId}`
  const last = (await sendPackage(seats, cars, { threadId })).metadata

  const found: string[] = []
  const targets: [string | undefined, number][] = []
  let [more, cursor] = ['', '']
  for (let pages = 0; pages < 2; pages++) {
    const page = await threadOf(seats, threadId, more)
    found.push(...idsOf(page))
    assert.equal(page.has_more ?? false, pages === 0)
    more = `?after=${page.next_cursor}`
    const evidence = (await seats.get(`/v1/audit/threads/${threadId}${cursor}`)).body as unknown as {
      entries: EvidenceEntry[]
      has_more: boolean
      next_cursor: string
    }
    for (const { event, position } of evidence.entries) targets.push([event?.target.object_id, position])
    assert.equal(evidence.has_more, pages === 0)
    cursor = `?after=${evidence.next_cursor}`
  }
  assert.deepEqual(found, [first.package_id, last.package_id])
  const about = (id: string, position: number) => [0, 1, 2, 3].map((offset) => [id, position + offset])
  assert.deepEqual(targets, [...about(first.package_id, 1), ...about(last.package_id, 4_999)])
})

test('[API-06][O-40] threads are paged by cursor; an altered cursor and one of another thread or organization are refused', async () => {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  const all = [first.package_id]
  for (let count = 0; count < 4; count++)
    all.push((await sendPackage(seats, cars, { threadId })).metadata.package_id)
  const found: PackageResource[] = []
  let cursor = ''
  for (let pages = 0; pages < 4; pages++) {
    const page = await threadOf(seats, threadId, `?limit=2${cursor && `&after=${cursor}`}`)
    found.push(...page.packages)
    if (typeof page.next_cursor !== 'string') break
    cursor = page.next_cursor
    assert.equal(page.has_more, true)
  }
  assert.deepEqual(idsOf({ packages: found }), all)
  const other = (await sendPackage(seats, cars)).metadata.thread_id
  for (const [by, path] of [
    [seats, `${threadId}?after=${cursor.slice(0, -2)}`],
    [seats, `${threadId}?after=AAAA`],
    [seats, `${other}?after=${cursor}`],
    [cars, `${threadId}?after=${cursor}`],
  ] as const) {
    assertProblem(await by.get(`/v1/threads/${path}`), 'cursor_invalid', {})
  }
  for (const limit of ['0', '-1', '1001', '1.5', 'x']) {
    assertProblem(await seats.get(`/v1/threads/${threadId}?limit=${limit}`), 'validation_failed')
  }
})
