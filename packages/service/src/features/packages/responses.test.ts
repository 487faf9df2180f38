import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PackageMetadata } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  boundToAgent,
  draftPackage,
  freshId,
  organizations,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  submitPackage,
  type DraftOptions,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const sent = async () => (await sendPackage(seats, cars)).metadata
const stateOf = async ({ package_id }: PackageMetadata) =>
  (await seats.get(`/v1/packages/${package_id}`)).body['state']

async function respond(
  to: PackageMetadata,
  options: DraftOptions = {},
  { from = cars, recipient = seats }: { from?: Organization; recipient?: Organization } = {},
) {
  const answering = { threadId: to.thread_id, respondsTo: to.package_id, ...options }
  return submit(from, await draftPackage(from, recipient, answering))
}

/** Submits a draft as a response to a package, whatever the draft names. */
async function respondAt(packageId: string, from: Organization, to: Organization, options: DraftOptions) {
  const { receipt, body } = await draftPackage(from, to, options)
  await from.post('/v1/policy-receipts', receipt)
  return from.post(`/v1/packages/${packageId}/responses`, body)
}

test('[PKG-09] a response is an independent package in the same thread and moves the original to responded', async () => {
  const metadata = await sent()
  const answer = await respond(metadata)
  assertSuccess(answer, 'createPackageResponse')
  assert.equal(answer.body['state'], 'accepted')
  assert.equal(answer.body['thread_id'], metadata.thread_id)
  assert.equal(await stateOf(metadata), 'responded')
  const own = answer.body['metadata'] as PackageMetadata
  assert.equal(own.responds_to_package_id, metadata.package_id)
  // It is fetched, receipted and answered like any other package.
  const content = await seats.get(String(answer.body['ciphertext_download_url']))
  assert.equal(content.status, 200)
  assertSuccess(await sendReceipt(seats, own, 'received'), 'createPackageReceipt')
  assertSuccess(await respond(own, {}, { from: seats, recipient: cars }), 'createPackageResponse')
})

test('[PKG-09] one package takes several responses, sequential and concurrent', async () => {
  const metadata = await sent()
  const answers = await Promise.all([respond(metadata), respond(metadata), respond(metadata)])
  for (const answer of [...answers, await respond(metadata)]) assertSuccess(answer, 'createPackageResponse')
  const thread = await seats.get(`/v1/threads/${metadata.thread_id}`)
  assert.equal((thread.body['packages'] as unknown[]).length, 5)
  const revocable = answers[0]?.body['metadata'] as PackageMetadata
  assertSuccess(await sendRevocation(cars, revocable), 'revokePackage')
  assert.equal(await stateOf(metadata), 'responded')
})

test('[PKG-11][AUD-01] evidence of an answered package names its new state and the states that the response implies', async () => {
  const metadata = await sent()
  await respond(metadata)
  await respond(metadata)
  const { body } = await seats.get(`/v1/audit/packages/${metadata.package_id}`)
  const entries = body['entries'] as { proof: { kind: string; state?: string; implied_states?: string[] } }[]
  const moves = entries.map(({ proof }) => proof).filter(({ kind }) => kind === 'response_accepted')
  assert.deepEqual(
    moves.map(({ state, implied_states }) => [state, implied_states]),
    [
      ['responded', ['delivered', 'received', 'opened']],
      [undefined, undefined],
    ],
  )
})

const named = (...members: string[]) => ({ members })

test('[PKG-09] thread, path and parties must match the original, and the problem names the members that do not', async () => {
  const [metadata, other] = [await sent(), await sent()]
  const inThread = { threadId: metadata.thread_id }
  const mismatch = async (answer: ReturnType<typeof respondAt>, details: object) =>
    assertProblem(await answer, 'response_mismatch', details)
  const { package_id: id } = metadata
  await mismatch(respondAt(id, cars, seats, inThread), named('responds_to_package_id'))
  await mismatch(
    respondAt(id, cars, seats, { ...inThread, respondsTo: other.package_id }),
    named('responds_to_package_id'),
  )
  await mismatch(respondAt(id, cars, seats, { respondsTo: id }), named('thread_id'))
  // The sender cannot respond in the recipient's place.
  await mismatch(
    respondAt(id, seats, cars, { ...inThread, respondsTo: id }),
    named('sender_org_id', 'recipient_org_id'),
  )
  await mismatch(respondAt(id, cars, steel, { ...inThread, respondsTo: id }), named('recipient_org_id'))
  assert.equal(await stateOf(metadata), 'encrypted_available')
})

test('[PKG-09] responds_to_package_id at POST /v1/packages is refused', async () => {
  const metadata = await sent()
  const draft = await draftPackage(cars, seats, {
    threadId: metadata.thread_id,
    respondsTo: metadata.package_id,
  })
  await cars.post('/v1/policy-receipts', draft.receipt)
  const answer = await cars.post('/v1/packages', draft.body)
  assertProblem(answer, 'response_mismatch', { members: ['responds_to_package_id'] })
})

test('[PKG-09][AUTH-03] a stranger’s response and one to a missing package get the same answer', async () => {
  const metadata = await sent()
  const foreign = await respond(metadata, {}, { from: steel, recipient: seats })
  const missing = await respond(
    { ...metadata, package_id: freshId('pkg') },
    {},
    { from: steel, recipient: seats },
  )
  assertProblem(foreign, 'resource_not_found', {})
  assertProblem(missing, 'resource_not_found', {})
  const bound = await boundToAgent(await secondAgent(cars))
  const draft = await draftPackage(cars, seats, {
    threadId: metadata.thread_id,
    respondsTo: metadata.package_id,
  })
  await cars.post('/v1/policy-receipts', draft.receipt)
  assertProblem(await submitPackage(bound, draft), 'not_permitted')
  assertProblem(await submitPackage(steel, draft), 'not_permitted')
})

test('[PKG-09][ERR-03] a revoked original takes no response', async () => {
  const metadata = await sent()
  await sendRevocation(seats, metadata)
  assertProblem(await respond(metadata), 'invalid_state_transition', { state: 'revoked' })
})

test('[PKG-09][PKG-12][ERR-03] an expired original takes no response', async () => {
  const expires_at = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  const { metadata } = await sendPackage(seats, cars, { metadata: { expires_at } })
  const early = await draftPackage(cars, seats, {
    threadId: metadata.thread_id,
    respondsTo: metadata.package_id,
  })
  const first = await submit(cars, early, { idempotencyKey: 'before-expiry' })
  assertSuccess(first, 'createPackageResponse')
  world.clock.advance(61)
  assertProblem(await respond(metadata), 'package_expired', {})
  const retry = await submitPackage(cars, early, { idempotencyKey: 'before-expiry' })
  assert.equal(retry.text, first.text)
})

test('[PKG-09][O-35] a response may be sealed as a response object, a package may not', async () => {
  const metadata = await sent()
  const contentType = 'application/svc.response-object+json'
  assertSuccess(await respond(metadata, { contentType }), 'createPackageResponse')
  const other = await respond(metadata, { contentType: 'application/json' })
  assertProblem(other, 'envelope_invalid', { reason: 'sealed_content_type' })
  const asPackage = await submit(seats, await draftPackage(seats, cars, { contentType }))
  assertProblem(asPackage, 'envelope_invalid', { reason: 'sealed_content_type' })
})

test('[PKG-09] of a concurrent response and revocation one wins', async () => {
  const metadata = await sent()
  const [response, revocation] = await Promise.all([respond(metadata), sendRevocation(seats, metadata)])
  const state = await stateOf(metadata)
  assert.deepEqual(
    [response.status, revocation.status, state],
    response.status === 202 ? [202, 409, 'responded'] : [409, 200, 'revoked'],
  )
})
