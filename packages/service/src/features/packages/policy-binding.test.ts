import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PolicyReceipt } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  secondAgent,
  sendPackage,
  startWorld,
  submit,
  submitPackage,
  type DraftOptions,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const moment = '2026-03-01T09:30:00.000Z'
const at = (created_at: string): DraftOptions => ({ metadata: { created_at } })

test('[POL-04] a receipt that differs from the metadata in any bound member is refused, and the member is named', async () => {
  const other = await secondAgent(seats)
  const differing: Partial<PolicyReceipt>[] = [
    { package_id: freshId('pkg') },
    { thread_id: freshId('thread') },
    { recipient_org_id: steel.organizationId },
    { recipient_agent_id: steel.agentId },
    { protocol_version: 'svc/1.1' },
    { skill_id: 'skill_other' },
    { skill_version: '1.0.1' },
    { content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' },
  ]
  for (const receipt of differing) {
    const answer = await submit(seats, await draftPackage(seats, cars, { receipt }))
    assertProblem(answer, 'policy_receipt_mismatch', { members: Object.keys(receipt) })
  }
  // A receipt of another agent of the same organization, signed by that agent.
  const draft = await draftPackage(seats, cars)
  const { receipt } = await draftPackage(other, cars, {
    metadata: { ...draft.metadata, sender_agent_id: other.agentId },
  })
  assertSuccess(await seats.post('/v1/policy-receipts', receipt), 'createPolicyReceipt')
  const answer = await submitPackage(seats, draft)
  assertProblem(answer, 'policy_receipt_mismatch', { members: ['sender_agent_id'] })
})

test('[POL-04] a missing receipt and one of another organization get the same answer', async () => {
  const draft = await draftPackage(seats, cars)
  const missing = await submitPackage(seats, draft)
  assertProblem(missing, 'policy_receipt_missing', {})
  const foreign = await draftPackage(steel, cars)
  await steel.post('/v1/policy-receipts', foreign.receipt)
  const taken = await draftPackage(seats, cars, {
    metadata: { policy_receipt_id: foreign.metadata.policy_receipt_id },
  })
  assertProblem(await submitPackage(seats, taken), 'policy_receipt_missing', {})
  // Nor may the sender use the counterparty's receipt for the same exchange.
  const theirs = await draftPackage(cars, seats)
  await cars.post('/v1/policy-receipts', theirs.receipt)
  const borrowed = await draftPackage(seats, cars, {
    metadata: { policy_receipt_id: theirs.metadata.policy_receipt_id },
  })
  assertProblem(await submitPackage(seats, borrowed), 'policy_receipt_missing', {})
})

test('[POL-04][OBJ-19][O-49] evaluated_at and approved_at may equal created_at as instants, and may not be later', async () => {
  const approval = { required: true, outcome: 'approved', approval_reference: 'a' }
  const answerTo = async (evaluated_at: string, approved_at: string) =>
    submit(
      seats,
      await draftPackage(seats, cars, {
        ...at(moment),
        receipt: { evaluated_at, human_approval: { ...approval, approved_at } },
      }),
    )
  const [equal, later] = ['2026-03-01T09:30:00+00:00', '2026-03-01T09:30:00.000000001Z']
  assertSuccess(await answerTo(equal, equal), 'createPackageTransfer')
  assertSuccess(await answerTo('2026-03-01T09:29:59.999Z', '2026-03-01T09:29:59Z'), 'createPackageTransfer')
  assertProblem(await answerTo(later, equal), 'policy_receipt_mismatch', { members: ['evaluated_at'] })
  assertProblem(await answerTo(equal, later), 'policy_receipt_mismatch', { members: ['approved_at'] })
})

test('[POL-04] the time of an approval that was not required is not compared', async () => {
  const approval = { outcome: 'approved', approval_reference: 'a', approved_at: '2026-03-01T09:30:01Z' }
  const answerTo = async (required: boolean) => {
    const receipt = { human_approval: { ...approval, required } }
    return submit(seats, await draftPackage(seats, cars, { ...at(moment), receipt }))
  }
  assertSuccess(await answerTo(false), 'createPackageTransfer')
  assertProblem(await answerTo(true), 'policy_receipt_mismatch', { members: ['approved_at'] })
})

test('[POL-04] a receipt covers one package: a second use fails because of the package id', async () => {
  const first = await sendPackage(seats, cars)
  const again = await draftPackage(seats, cars, {
    metadata: { policy_receipt_id: first.metadata.policy_receipt_id },
  })
  const answer = await submitPackage(seats, again)
  assertProblem(answer, 'policy_receipt_mismatch')
  assert.ok((answer.body['details'] as { members: string[] }).members.includes('package_id'))
})

test('[POL-04][PKG-09] a response needs its own receipt', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id }
  assertProblem(
    await submitPackage(cars, await draftPackage(cars, seats, answering)),
    'policy_receipt_missing',
  )
  const checks = (await draftPackage(cars, seats)).receipt.checks.map((each) => ({
    ...each,
    outcome: 'failed',
  }))
  const failed = await draftPackage(cars, seats, { ...answering, receipt: { checks } })
  assertProblem(await submit(cars, failed), 'policy_receipt_ineligible', {})
  const mismatched = await draftPackage(cars, seats, { ...answering, receipt: { skill_version: '9' } })
  assertProblem(await submit(cars, mismatched), 'policy_receipt_mismatch', { members: ['skill_version'] })
  const read = await seats.get(`/v1/packages/${metadata.package_id}`)
  assert.equal(read.body['state'], 'encrypted_available')
})
