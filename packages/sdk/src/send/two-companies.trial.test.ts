import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { behindLiar, sendCrafted } from './crafted.fixture.ts'
import { inputFor, packageFor, policyFor, responseFor, SKILL } from './drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackageReceipt } from '../open/package-receipts.ts'
import { readThread } from '../connection/read-thread.ts'
import { respondToPackage } from './respond-to-package.ts'
import { revokePackage } from './revoke-package.ts'
import type { SendableObject } from './send-input.ts'
import { sendPackage } from './send-package.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
const outbox = createMemoryOutbox()
const REASON = { reasonCode: 'superseded', reasonDetail: 'A newer one follows.' }

const codeIs = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError)
  assert.equal(error.code, code, error.message)
  return true
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('[PKG-09] a package is answered by its recipient, and the answer is opened by its sender', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  await openPackage(bolt, sent.packageId)
  const answer = { object: responseFor(bolt, sent), policy: policyFor(bolt, acme), skill: SKILL }
  const responded = await respondToPackage(bolt, sent.packageId, answer, { outbox })
  assert.equal(responded.metadata.responds_to_package_id, sent.packageId)
  assert.equal(responded.threadId, sent.threadId)
  const opened = await openPackage(acme, responded.packageId)
  assert.equal(opened.object.object_type, 'response_object')
  assert.deepEqual(
    opened.receipts.map(({ state }) => state),
    ['received', 'opened'],
  )
  const again = await respondToPackage(bolt, sent.packageId, answer, { outbox })
  assert.equal(again.resumed, true)
  await assert.rejects(
    respondToPackage(acme, sent.packageId, answer, { outbox }),
    codeIs('package_not_for_us'),
  )
  const other = { ...answer, object: responseFor(bolt, { ...sent, packageId: 'pkg_other' }) }
  await assert.rejects(respondToPackage(bolt, sent.packageId, other, { outbox }), codeIs('object_invalid'))
})

test('[PKG-09] answers to answers: a conversation goes on for as long as the parties like', async () => {
  let last = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  for (let round = 0; round < 6; round++) {
    const [by, to] = round % 2 === 0 ? [bolt, acme] : [acme, bolt]
    await openPackage(by, last.packageId)
    const object = responseFor(by, last)
    const answer = { object, policy: policyFor(by, to), skill: SKILL }
    const sent = await respondToPackage(by, last.packageId, answer, { outbox })
    assert.match(sent.packageId, /^pkg_/u)
    assert.equal(sent.metadata.responds_to_package_id, last.packageId)
    // The same answer again is the same package.
    const again = await respondToPackage(by, last.packageId, answer, { outbox })
    assert.deepEqual([again.packageId, again.resumed], [sent.packageId, true])
    last = sent
    const { ids } = await openPackage(to, sent.packageId)
    assert.deepEqual(ids, { package: sent.packageId, object: object.id })
  }
  const states = (await collected(readThread(acme, last.threadId))).flatMap(({ packages }) =>
    packages.map(({ state }) => state),
  )
  assert.deepEqual(states, [...Array.from({ length: 6 }, () => 'responded'), 'opened'])
})

test('[PKG-09] a story can be answered, and its next version is a package of its own', async () => {
  const author = { created_by: packageFor(acme, bolt).created_by, created_at: acme.now().toISOString() }
  const { next_update: _, ...example } = exampleObjects.network_story
  const story = { ...example, ...author, id: 'story_told_twice', thread_id: 'thread_of_versions' }
  const terms = { policy: policyFor(acme, bolt), to: bolt.identity, skill: SKILL }
  const first = await sendPackage(acme, { ...terms, object: story }, { outbox })
  const trace = { ...story.trace, idempotency_key: 'idem_of_the_second_version' }
  const next = { ...story, story_version: story.story_version + 1, trace }
  const second = await sendPackage(acme, { ...terms, object: next }, { outbox })
  assert.notEqual(second.packageId, first.packageId)
  const answer = { object: responseFor(bolt, second), policy: policyFor(bolt, acme), skill: SKILL }
  const { metadata } = await respondToPackage(bolt, second.packageId, answer, { outbox })
  assert.equal(metadata.responds_to_package_id, second.packageId)
})

test('[PKG-13] a thread is read page by page, in order, and never round in a circle', async () => {
  const threadId = 'thread_of_pages'
  const ids: string[] = []
  for (let count = 0; count < 5; count++)
    ids.push((await sendPackage(acme, inputFor(acme, bolt, { thread_id: threadId }), { outbox })).packageId)
  const pages = await collected(readThread(bolt, threadId, { limit: 2 }))
  assert.deepEqual(
    pages.map(({ packages }) => packages.map(({ package_id }) => package_id)),
    [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)],
  )
  await assert.rejects(collected(readThread(acme, 'thread_unknown')), codeIs('exchange_refused'))
  assert.deepEqual(await collected(readThread(acme, 'thread_unknown', { missing: 'empty' })), [])
  const circle = behindLiar(bolt, /\/v1\/threads\//, (text) =>
    JSON.stringify({ ...(JSON.parse(text) as object), next_cursor: 'again', has_more: true }),
  )
  const reading = collected(readThread({ ...circle, connection: unpaged(circle.connection) }, threadId))
  await assert.rejects(reading, codeIs('exchange_answer_unreadable'))
})

/** The real exchange refuses a cursor that it did not make; a false one might not. */
function unpaged(connection: typeof acme.connection): typeof acme.connection {
  return {
    ...connection,
    call: (operation, options) => connection.call(operation, { ...options, query: {} }),
  }
}

test('[PKG-10] a package is revoked once, however often it is asked for, and is gone', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  await assert.rejects(revokePackage(bolt, sent.packageId, REASON), codeIs('package_not_for_us'))
  const first = await revokePackage(acme, sent.packageId, REASON)
  assert.equal(first.alreadyRevoked, false)
  assert.equal(first.futureAccessBlocked, true)
  world.clock.advance(2)
  const again = await revokePackage(createContext(acme.options), sent.packageId, REASON)
  assert.equal(again.alreadyRevoked, true)
  assert.deepEqual(again.revocation, first.revocation)
  await assert.rejects(openPackage(bolt, sent.packageId), codeIs('content_unavailable'))
})

test('[PKG-10] asked for at the same time, both learn of the one revocation', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const both = await Promise.all([1, 2].map(() => revokePackage(acme, sent.packageId, REASON)))
  assert.deepEqual(both[0]?.revocation, both[1]?.revocation)
  assert.equal(both.filter(({ alreadyRevoked }) => alreadyRevoked).length, 1)
})

test('[PKG-10] what was opened is no longer revoked', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  await openPackage(bolt, sent.packageId)
  await assert.rejects(revokePackage(acme, sent.packageId, REASON), (error: unknown) => {
    assert.ok(error instanceof ExchangeError)
    assert.equal(error.problem?.code, 'invalid_state_transition')
    return true
  })
})

test('[PKG-08] revoked while it was being opened: nothing is handed out', async () => {
  const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const slow = createContext({
    ...bolt.options,
    fetch: async (url, init) => {
      if (init?.method === 'POST' && url.endsWith('/receipts'))
        await revokePackage(acme, sent.packageId, REASON)
      return fetch(url, init)
    },
  })
  await assert.rejects(openPackage(slow, sent.packageId), codeIs('content_unavailable'))
})

test('[PKG-12] after its end a package is not opened', async () => {
  const expiresAt = new Date(acme.now().getTime() + 60_000).toISOString()
  const sent = await sendPackage(acme, { ...inputFor(acme, bolt), expiresAt }, { outbox })
  world.clock.advance(61)
  await assert.rejects(openPackage(bolt, sent.packageId), codeIs('content_unavailable'))
})

test('[PKG-08] the same receipt for another state or package is another receipt', async () => {
  const [one, two] = [await sendCrafted(acme, bolt), await sendCrafted(acme, bolt)]
  const resources = await Promise.all(
    [one, two].map(({ package_id }) => bolt.connection.call('getPackage', { path: { package_id } })),
  )
  const ids = new Set<string>()
  for (const resource of resources)
    for (const state of ['failed', 'rejected', 'received', 'received'] as const)
      ids.add((await sendPackageReceipt(bolt, resource, state)).receipt_id)
  assert.equal(ids.size, 6)
})

test('[OBJ-07][OBJ-09] stories, threads and policies travel the same way', async () => {
  const { network_story, loop_thread } = exampleObjects
  const author = { created_by: packageFor(acme, bolt).created_by, created_at: acme.now().toISOString() }
  const threadId = 'thread_of_objects'
  const objects: SendableObject[] = [
    {
      ...network_story,
      ...author,
      id: 'story_of_objects',
      thread_id: threadId,
      next_update: '2099-01-01T00:00:00Z',
    },
    { ...loop_thread, ...author, id: threadId, thread_id: threadId },
    { ...policyFor(acme, bolt), id: 'pol_of_objects' },
  ]
  for (const object of objects) {
    const input = { object, threadId, policy: policyFor(acme, bolt), to: bolt.identity, skill: SKILL }
    const sent = await sendPackage(acme, input, { outbox })
    assert.equal(sent.threadId, threadId)
    const opened = await openPackage(bolt, sent.packageId)
    assert.equal(opened.object.object_type, object.object_type)
  }
})
