import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canonicalize } from '@agent-exchange/crypto'
import { exampleObjects } from '@agent-exchange/protocol'
import { draftSkillManifest, startWorld } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { ExchangeError } from '../errors.ts'
import { inputFor, packageFor, policyFor, SECRET_WORDS, SKILL } from './drafts.fixture.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackage } from './send-package.ts'
import type { ApprovalRequest, SendInput } from './send-input.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')

async function codeOf(work: Promise<unknown>): Promise<ExchangeError> {
  try {
    await work
  } catch (error) {
    if (error instanceof ExchangeError) return error
    throw error
  }
  throw new Error('it was not refused')
}

test('[PKG-01][PKG-04][POL-04] a package is checked, sealed, sent and opened, step by step', async () => {
  const outbox = createMemoryOutbox()
  const steps: string[] = []
  const input = inputFor(acme, bolt)
  const sent = await sendPackage(acme, input, { outbox, onProgress: ({ step }) => steps.push(step) })
  assert.deepEqual(steps, ['validated', 'checked', 'sealed', 'receipt_accepted', 'accepted'])
  assert.equal(sent.packageId, input.object.id)
  assert.equal(sent.resumed, false)
  const opened = await openPackage(bolt, sent.packageId)
  assert.deepEqual(opened.object, input.object)
  assert.deepEqual(
    opened.receipts.map(({ state }) => state),
    ['received', 'opened'],
  )
  assert.equal(opened.senderKey.agentId, acme.identity.agentId)
  assert.equal((await openPackage(acme, sent.packageId)).receipts.length, 0)
})

test('[PKG-14] neither outbox nor exchange nor log holds a word of the content', async () => {
  const outbox = createMemoryOutbox()
  const { packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  assert.ok(!JSON.stringify(await outbox.read(packageId)).includes(SECRET_WORDS))
  assert.ok(!world.logged.join('\n').includes(SECRET_WORDS))
  const [row] = await world.sql`
    select convert_from(string_agg(payload, '' order by part), 'UTF8') as text from package_content
    where package_id = ${packageId}`
  assert.ok(row && !String(row['text']).includes(SECRET_WORDS))
})

test('[POL-03] a required approval is requested with all facts, and is in the receipt', async () => {
  const requests: ApprovalRequest[] = []
  const input: SendInput = {
    ...inputFor(acme, bolt),
    policy: policyFor(acme, bolt, { human_approval: { required: true, approval_id: '' } }),
    approve: async (request) => {
      requests.push(request)
      world.clock.advance(60)
      return { approved: true, approvalReference: 'ticket_12' }
    },
  }
  const { packageId, metadata } = await sendPackage(acme, input, { outbox: createMemoryOutbox() })
  const [request] = requests
  assert.deepEqual(request?.object, input.object)
  assert.equal(request?.recipient.agentId, bolt.identity.agentId)
  assert.equal(request?.checks.length, 5)
  const { policyReceipt } = await openPackage(bolt, packageId)
  const { human_approval: approval, evaluated_at } = policyReceipt.receipt
  assert.equal(approval.outcome, 'approved')
  assert.equal(approval.approval_reference, 'ticket_12')
  assert.ok(Date.parse(evaluated_at) < Date.parse(approval.approved_at ?? ''))
  assert.ok(Date.parse(approval.approved_at ?? '') <= Date.parse(metadata.created_at))
})

test('[POL-04] what was approved is what is sealed, whatever happens to the object meanwhile', async () => {
  const { object, ...terms } = inputFor(acme, bolt)
  const mutable = structuredClone(object)
  let approved = ''
  const input: SendInput = {
    ...terms,
    object: mutable,
    policy: policyFor(acme, bolt, { human_approval: { required: true, approval_id: '' } }),
    approve: (request) => {
      approved = canonicalize(request.object)
      world.clock.advance(3_600)
      Object.assign(mutable, { confidence: { score: 0.01, basis: 'changed by the caller' } })
      Object.assign(request.object, { confidence: { score: 0.02, basis: 'changed by the callback' } })
      return { approved: true }
    },
  }
  const { packageId, metadata } = await sendPackage(acme, input, { outbox: createMemoryOutbox() })
  const { object: opened, createdAt } = await openPackage(bolt, packageId)
  assert.equal(canonicalize(opened), approved)
  assert.equal(approved, canonicalize(object))
  assert.deepEqual(createdAt, { package: metadata.created_at, object: object.created_at })
  assert.ok(Date.parse(createdAt.package) > Date.parse(createdAt.object))
})

test('[POL-03] without an approval nothing is sealed or sent', async () => {
  const outbox = createMemoryOutbox()
  const object = packageFor(acme, bolt)
  const input: SendInput = {
    ...inputFor(acme, bolt),
    object: {
      ...object,
      policy_envelope: { ...object.policy_envelope, human_approval: { required: true, approval_id: 'a' } },
    },
  }
  const missing = await codeOf(sendPackage(acme, input, { outbox }))
  const declined = await codeOf(
    sendPackage(acme, { ...input, approve: () => ({ approved: false }) }, { outbox }),
  )
  assert.deepEqual([missing.code, declined.code], ['approval_missing', 'approval_declined'])
  assert.equal(await outbox.read(input.object.id), undefined)
  assert.equal((await codeOf(openPackage(bolt, input.object.id))).problem?.status, 404)
})

test('[OBJ-04] what is invalid, contradicts itself or breaks the policy stays here, with every reason', async () => {
  const outbox = createMemoryOutbox()
  const valid = inputFor(acme, bolt)
  const price = packageFor(acme, bolt, {
    business_context: { ...valid.object.business_context, affected_scope: { unitPrice: 12 } },
  })
  const cases: [SendInput, string, RegExp][] = [
    [{ ...valid, object: { ...valid.object, hash: 'x' } as never }, 'object_invalid', /\/object/],
    [{ ...valid, policy: { ...valid.policy, allowed_actions: [] } }, 'object_invalid', /\/policy\/allowed/],
    [{ ...valid, object: packageFor(bolt, acme) }, 'policy_refused', /\/object\/recipients/],
    [
      { ...valid, object: packageFor(acme, bolt, { sender: packageFor(bolt, acme).sender }) },
      'object_invalid',
      /\/sender\/organization_id/,
    ],
    [{ ...valid, object: price }, 'policy_refused', /\/object\/business_context\/affected_scope\/unitPrice/],
    [{ ...valid, skill: { id: 'skill_other', version: '1' } }, 'policy_refused', /skill_versions/],
    [{ ...valid, object: exampleObjects.response_object as never }, 'object_invalid', /^$/],
    [{ ...valid, policy: null as never }, 'object_invalid', /\/policy/],
    [{ ...valid, to: { ...bolt.identity, agentId: 'agent_nobody' } }, 'peer_unknown', /^$/],
    [
      { ...valid, to: { ...bolt.identity, organizationId: acme.identity.organizationId } },
      'policy_refused',
      /\/recipient\/organization_id/,
    ],
  ]
  for (const [input, code, pointer] of cases) {
    const error = await codeOf(sendPackage(acme, input, { outbox }))
    assert.equal(error.code, code, pointer.source)
    assert.match(error.failures.map((failure) => failure.pointer).join(' '), pointer)
    assert.ok(!error.message.includes(SECRET_WORDS))
    assert.equal(await outbox.read(input.object.id), undefined)
  }
})

test('[API-04] the same package again is the same package; another one under its id is refused', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const first = await sendPackage(acme, input, { outbox })
  world.clock.advance(5)
  const again = await sendPackage(acme, input, { outbox })
  assert.deepEqual(again, { ...first, resumed: true })
  const changed: SendInput[] = [
    { ...input, object: { ...input.object, confidence: { score: 0.1, basis: 'other' } } },
    { ...input, policy: { ...input.policy, purpose: input.policy.purpose, schema_version: '1.0.1' } },
    { ...input, to: { ...bolt.identity, agentId: 'agent_other' } },
    { ...input, skill: { ...SKILL, version: '2.0.0' } },
  ]
  for (const other of changed)
    assert.equal((await codeOf(sendPackage(acme, other, { outbox }))).code, 'outbox_conflict')
  const many = inputFor(acme, bolt)
  const sent = await Promise.all([1, 2, 3, 4].map(() => sendPackage(acme, many, { outbox })))
  assert.equal(new Set(sent.map(({ policyReceiptId }) => policyReceiptId)).size, 1)
})

test('[API-04] whether it is the same package is unknown while the own key is away, and that passes', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const first = await sendPackage(acme, input, { outbox })
  const privateKey: KeyStore['privateKey'] = async (keyId) => ({
    ...(await acme.keys.privateKey(keyId)),
    agree: () => Promise.reject(new Error('the module is away')),
  })
  const away = { ...acme, keys: { ...acme.keys, privateKey } }
  const { code, retryable } = await codeOf(sendPackage(away, input, { outbox }))
  assert.deepEqual([code, retryable], ['key_unavailable', true])
  assert.deepEqual(await sendPackage(acme, input, { outbox }), { ...first, resumed: true })
})

test('[ID-09] another version of the skill will do where its release says so', async () => {
  const manifest = draftSkillManifest({ skill_id: 'skill_alignment', version: '1.2.0' })
  const input = { ...inputFor(acme, bolt), skill: { id: 'skill_alignment', version: '1.2.0' } }
  const outbox = createMemoryOutbox()
  const unknown = await codeOf(sendPackage(acme, input, { outbox }))
  assert.deepEqual([unknown.code, unknown.details['checks']], ['policy_refused', ['skill_profile']])
  const published = await world.operate('POST', '/skills', {
    manifest,
    artifact: Buffer.from('skill').toString('base64'),
  })
  assert.ok(published.status < 300, JSON.stringify(published.body))
  assert.equal((await sendPackage(acme, input, { outbox })).metadata.skill_version, '1.2.0')
})

test('a thread knows the agent; without it the caller has to say', async () => {
  const outbox = createMemoryOutbox()
  const { to: _, ...first } = inputFor(acme, bolt)
  const error = await codeOf(sendPackage(acme, first, { outbox }))
  assert.equal(error.code, 'object_invalid')
  const { threadId } = await sendPackage(acme, inputFor(acme, bolt), { outbox })
  const { to: __, ...next } = inputFor(acme, bolt, { thread_id: threadId })
  const sent = await sendPackage(acme, next, { outbox })
  assert.equal(sent.metadata.recipient_agent_id, bolt.identity.agentId)
})

test('what is sent with sentences of the template is sent, and said', async () => {
  const object = packageFor(acme, bolt, {
    intent: { sender_action: 'Say what you will do.', recipient_request: 'x' },
  })
  const { warnings } = await sendPackage(
    acme,
    { ...inputFor(acme, bolt), object },
    { outbox: createMemoryOutbox() },
  )
  assert.deepEqual(
    warnings.map(({ code, pointer }) => [code, pointer]),
    [['placeholder', '/intent/sender_action']],
  )
})

test('[POL-03] one failed check is one failure, and an unknown agent is named with the correlation id', async () => {
  const outbox = createMemoryOutbox()
  const input = inputFor(acme, bolt)
  const purpose = { ...input.policy, purpose: 'another purpose' }
  const refused = await codeOf(sendPackage(acme, { ...input, policy: purpose }, { outbox }))
  assert.deepEqual([refused.details['checks'], refused.failures.length], [['object_schema'], 1])
  assert.match(refused.message, /^\/object\/policy_envelope\/purpose: Use the purpose of the policy/)

  const to = { ...bolt.identity, agentId: 'agent_nobody' }
  const unknown = await codeOf(sendPackage(acme, { ...inputFor(acme, bolt), to }, { outbox }))
  assert.match(unknown.message, /^There is no agent "agent_nobody" \(correlation id corr_\w+\)\./)
  assert.equal(unknown.details['agentId'], 'agent_nobody')
})
