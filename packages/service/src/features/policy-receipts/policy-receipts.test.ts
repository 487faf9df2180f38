import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signPolicyReceipt } from '@agent-exchange/crypto'
import { POLICY_CHECK_IDS, type PolicyReceipt } from '@agent-exchange/protocol'
import {
  addKey,
  assertProblem,
  assertSuccess,
  boundToAgent,
  draftPackage,
  freshId,
  organizations,
  secondAgent,
  startWorld,
  submitPackage,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const PATH = '/v1/policy-receipts'

async function receiptOf(change: object = {}, by = seats): Promise<PolicyReceipt> {
  const { receipt } = await draftPackage(by, cars, { receipt: change })
  return receipt
}

const countOf = async (id: string) =>
  (await world.sql`select from policy_receipt where policy_receipt_id = ${id}`).length

test('[POL-01][POL-03] a verified receipt is stored unchanged, is eligible, and can be read back', async () => {
  const receipt = await receiptOf()
  const created = await seats.post(PATH, receipt)
  assertSuccess(created, 'createPolicyReceipt')
  assert.deepEqual(created.body['receipt'], receipt)
  assert.equal(created.body['signature_status'], 'verified')
  assert.equal(created.body['package_authorization'], 'eligible')
  assert.match(String(created.body['audit_event_id']), /^audit_/)
  const read = await seats.get(`${PATH}/${receipt.policy_receipt_id}`)
  assertSuccess(read, 'getPolicyReceipt')
  assert.deepEqual(read.body, created.body)
})

test('[POL-01] the signature covers every member: any change after signing is refused', async () => {
  const receipt = await receiptOf()
  const changes: Record<string, unknown> = {
    receipt_version: '1.1',
    package_id: freshId('pkg'),
    thread_id: freshId('thread'),
    recipient_org_id: steel.organizationId,
    recipient_agent_id: steel.agentId,
    protocol_version: 'svc/1.1',
    skill_id: 'skill_other',
    skill_version: '1.0.1',
    content_digest: receipt.policy_digest,
    policy_id: 'pol_other',
    policy_schema_version: '1.0.1',
    policy_digest: receipt.content_digest,
    checks: receipt.checks.toReversed(),
    human_approval: { ...receipt.human_approval, approval_reference: 'approval_4712' },
    evaluated_at: '2026-01-01T00:00:00Z',
    statement: 'Something else.',
    policy_receipt_id: freshId('receipt'),
  }
  for (const [member, value] of Object.entries(changes)) {
    const answer = await seats.post(PATH, { ...receipt, [member]: value })
    assertProblem(answer, 'signature_invalid', { reason: 'signature_mismatch' })
  }
  assert.equal(await countOf(receipt.policy_receipt_id), 0)
})

test('[POL-01][AUTH-03] a receipt must name the caller’s own organization and agent and use a signing key of that agent', async () => {
  const receipt = await receiptOf()
  assertProblem(await cars.post(PATH, receipt), 'not_permitted')

  const other = await secondAgent(seats)
  const withOthersKey = { ...receipt, signature: await signPolicyReceipt(unsigned(receipt), keyOf(other)) }
  assertProblem(await seats.post(PATH, withOthersKey), 'signing_key_unusable', { reason: 'unknown' })
  const encryption = { ...receipt.signature, key_id: seats.encryption.keyId }
  assertProblem(await seats.post(PATH, { ...receipt, signature: encryption }), 'signing_key_unusable')

  const bound = await boundToAgent(seats)
  assertProblem(await bound.post(PATH, await receiptOf({}, other)), 'not_permitted')
  assertSuccess(await bound.post(PATH, receipt), 'createPolicyReceipt')
})

const unsigned = ({ signature: _signature, ...rest }: PolicyReceipt) => rest
const keyOf = ({ signing }: Organization) => ({ key: signing.pair.privateKey, keyId: signing.keyId })

test('[ID-05][POL-01] the key must have been valid when the policy was evaluated', async () => {
  const late = await addKey(seats, 'signing', { validFrom: '2030-01-01T00:00:00Z' })
  const receipt = await receiptOf({}, { ...seats, signing: late })
  assertProblem(await seats.post(PATH, receipt), 'signing_key_unusable', { reason: 'not_yet_valid' })
})

const passed = (ids: readonly string[]) => ids.map((check_id) => ({ check_id, outcome: 'passed' }))

test('[POL-02] a receipt contains exactly the five checks, once each, and no unknown members', async () => {
  const [first, ...others] = POLICY_CHECK_IDS
  const wrong: Record<string, unknown>[] = [
    { checks: passed(others) },
    { checks: passed([...POLICY_CHECK_IDS, first]) },
    { checks: passed([...others, others[0]]) },
    { checks: passed([...others, 'invented']) },
    { checks: passed(POLICY_CHECK_IDS).map((check) => ({ ...check, reasoning: 'because' })) },
    { plaintext: 'capacity is 40,000 seats' },
    { human_approval: { required: true, outcome: 'approved', field_values: [1] } },
    { statement: 'x'.repeat(4_097) },
    { policy_id: 'p'.repeat(257) },
    { checks: passed(POLICY_CHECK_IDS).map((check) => ({ ...check, outcome: 'o'.repeat(257) })) },
    { skill_id: 'a\0b' },
    { content_digest: 'sha-256=:AAAA:' },
  ]
  for (const change of wrong) {
    const answer = await seats.post(PATH, await receiptOf(change))
    assertProblem(answer, 'validation_failed')
    assert.doesNotMatch(answer.text, /because|40,000|plaintext|invented|reasoning"/)
  }
})

test('[POL-03][O-34] a signed receipt that did not pass or was not approved is stored as ineligible', async () => {
  const checks = passed(POLICY_CHECK_IDS)
  const approval = {
    required: true,
    outcome: 'approved',
    approval_reference: 'a',
    approved_at: world.clock.now(),
  }
  const { outcome: _outcome, ...withoutOutcome } = approval
  const { approved_at: _approvedAt, ...withoutTime } = approval
  const { approval_reference: _reference, ...withoutReference } = approval
  const ineligible: object[] = [
    ...POLICY_CHECK_IDS.map((_, index) => ({
      checks: checks.map((check, at) => (at === index ? { ...check, outcome: 'failed' } : check)),
    })),
    { checks: checks.map((check) => ({ ...check, outcome: 'PASSED' })) },
    { human_approval: { ...approval, outcome: 'rejected' } },
    { human_approval: withoutOutcome },
    { human_approval: withoutTime },
    { human_approval: withoutReference },
    { human_approval: { ...approval, approval_reference: '' } },
    { human_approval: { required: true } },
  ]
  for (const change of ineligible) {
    const draft = await draftPackage(seats, cars, { receipt: change })
    const answer = await seats.post(PATH, draft.receipt)
    assertSuccess(answer, 'createPolicyReceipt')
    assert.equal(answer.body['signature_status'], 'verified')
    assert.equal(answer.body['package_authorization'], 'ineligible')
    assertProblem(await submitPackage(seats, draft), 'policy_receipt_ineligible')
  }
  const unrequired = await seats.post(PATH, await receiptOf({ human_approval: { required: false } }))
  assert.equal(unrequired.body['package_authorization'], 'eligible')
})

test('[POL-05][AUTH-03] the sender can read a receipt, the recipient once a package refers to it, others never', async () => {
  const draft = await draftPackage(seats, cars)
  const path = `${PATH}/${draft.receipt.policy_receipt_id}`
  await seats.post(PATH, draft.receipt)
  assertSuccess(await seats.get(path), 'getPolicyReceipt')
  assertProblem(await cars.get(path), 'resource_not_found')
  await submitPackage(seats, draft)
  assertSuccess(await cars.get(path), 'getPolicyReceipt')
  const [foreign, none] = await Promise.all([steel.get(path), steel.get(`${PATH}/${freshId('receipt')}`)])
  assertProblem(foreign, 'resource_not_found', {})
  assert.deepEqual({ ...foreign.body, correlation_id: '' }, { ...none.body, correlation_id: '' })
})

test('[POL-01] a receipt id is unique across organizations', async () => {
  const receipt = await receiptOf()
  await seats.post(PATH, receipt)
  assertProblem(await seats.post(PATH, receipt), 'identifier_conflict', {})
  const foreign = await draftPackage(steel, cars, {
    metadata: { policy_receipt_id: receipt.policy_receipt_id },
  })
  assertProblem(await steel.post(PATH, foreign.receipt), 'identifier_conflict', {})
  const same = await Promise.all(
    Array.from({ length: 5 }, async () => receiptOf({ policy_receipt_id: 'receipt_contended' })),
  )
  const statuses = await Promise.all(same.map(async (each) => (await seats.post(PATH, each)).status))
  assert.deepEqual(
    statuses.toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409],
  )
})

test('[AUD-03] a policy receipt cannot be changed, deleted or truncated', async () => {
  await assert.rejects(world.sql`update policy_receipt set eligible = true`, /append-only/)
  await assert.rejects(world.sql`delete from policy_receipt`, /append-only/)
  await assert.rejects(world.sql`truncate policy_receipt cascade`, /append-only/)
})
