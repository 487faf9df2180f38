import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleObjects, type ResponseObject } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { randomId } from '../connection/random-id.ts'
import { ExchangeError } from '../errors.ts'
import { makersOf } from './makers.ts'
import { sendCrafted } from '../send/crafted.fixture.ts'
import { policyFor, SKILL } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { respondToPackage } from '../send/respond-to-package.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
const NAMED = { responds_to_package_id: 'pkg_other' }
const foreignId = () => `ORDER:${randomId('2026').slice(0, 20)}@plant-7`

/** An answer of bolt, made as the SDK's users make it; `change` sets members by hand. */
async function answer(
  packageId: string,
  threadId: string,
  change: Partial<ResponseObject> = {},
  answeredObjectId?: string,
) {
  const policy = policyFor(bolt, acme)
  const make = makersOf(() => ({ by: bolt.identity, now: bolt.now(), policy }))
  const made = make.responseObject({ to: { packageId, threadId }, summary: 'We agree.' })
  const input = {
    object: { ...made, ...change },
    policy,
    skill: SKILL,
    ...(answeredObjectId !== undefined && { answeredObjectId }),
  }
  return respondToPackage(bolt, packageId, input, { outbox: createMemoryOutbox() })
}

async function opened(packageId: string): Promise<ResponseObject> {
  const { object } = await openPackage(acme, packageId)
  assert.ok(object.object_type === 'response_object')
  return object
}

test('[PKG-09][OBJ-01] a package with an id of another implementation is answered; the answer names the object inside', async () => {
  const sent = await sendCrafted(acme, bolt, { metadata: { package_id: foreignId() } })
  const { ids } = await openPackage(bolt, sent.package_id)
  assert.notEqual(ids.object, ids.package)
  const { metadata, packageId } = await answer(sent.package_id, sent.thread_id)
  assert.equal(metadata.responds_to_package_id, sent.package_id)
  assert.equal((await opened(packageId)).responds_to_package_id, ids.object)
})

test('[PKG-09] where neither package nor object has an id that fits, the answer names the package with the prefix', async () => {
  const sent = await sendCrafted(acme, bolt, {
    metadata: { package_id: foreignId() },
    object: (o) => ({ ...exampleObjects.network_story, thread_id: o['thread_id'] }),
  })
  await openPackage(bolt, sent.package_id)
  const { packageId } = await answer(sent.package_id, sent.thread_id)
  assert.equal((await opened(packageId)).responds_to_package_id, `pkg_${sent.package_id}`)
})

test('[PKG-09] an answer may name the object inside a package of any id; one that names something else is refused', async () => {
  const sent = await sendCrafted(acme, bolt, { object: (o) => ({ ...o, id: 'pkg_written_before' }) })
  await openPackage(bolt, sent.package_id)
  const named = { responds_to_package_id: 'pkg_written_before' }
  const { packageId } = await answer(sent.package_id, sent.thread_id, named)
  assert.equal((await opened(packageId)).responds_to_package_id, 'pkg_written_before')
  const other = answer(sent.package_id, sent.thread_id, NAMED)
  await assert.rejects(other, (error) => {
    assert.ok(error instanceof ExchangeError)
    assert.deepEqual(
      error.failures.map(({ pointer, rule }) => [pointer, rule]),
      [['/responds_to_package_id', 'PKG-09']],
    )
    return true
  })
})

test('[PKG-09] an answer inside a package that answers nothing, or that names another object, is rejected', async () => {
  const mismatch = (error: unknown) => {
    assert.ok(error instanceof ExchangeError && error.code === 'content_mismatch')
    assert.deepEqual(error.details['members'], ['/responds_to_package_id'])
    return true
  }
  const { organizationId: organization_id, agentId: agent_id } = acme.identity
  const unasked = await sendCrafted(acme, bolt, {
    object: ({ thread_id }) => ({
      ...exampleObjects.response_object,
      thread_id,
      created_by: { organization_id, agent_id },
    }),
  })
  await assert.rejects(openPackage(bolt, unasked.package_id), mismatch)
  const sent = await sendCrafted(acme, bolt)
  // A responder that lies to itself about what it has opened.
  const { packageId } = await answer(sent.package_id, sent.thread_id, NAMED, NAMED.responds_to_package_id)
  await assert.rejects(openPackage(acme, packageId), mismatch)
})
