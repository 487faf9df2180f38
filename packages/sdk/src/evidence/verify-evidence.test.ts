import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import type { EvidenceBundle } from '@agent-exchange/log'
import { checkDetail, checkText, SIGNATURE_CODES, verifyEvidence } from '@agent-exchange/log'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { inputFor, policyFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { sendPackage } from '../send/send-package.ts'
import { failing, relinked, wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const { acme, bolt, threadId } = thread
const evidence = await readEvidence(bolt, { threadId })

test('[AUD-01][AUD-03] the evidence of a thread holds, offline, on either side', async () => {
  for (const by of [acme, bolt]) {
    const bundle = JSON.parse(JSON.stringify(await readEvidence(by, { threadId }))) as EvidenceBundle
    const report = await verifyEvidence(bundle)
    assert.deepEqual(failing(report), [])
    assert.equal(report.verdict, 'holds')
    assert.equal(bundle.packages.length, 3)
    assert.equal(report.chainEnd?.hash, bundle.entries.at(-1)?.proof.hash)
    const signed = report.checks.filter(({ code, result }) => result === 'holds' && SIGNATURE_CODES.has(code))
    assert.deepEqual(
      new Set(signed.map(({ code }) => code)),
      new Set([
        'acceptance_signature',
        'policy_receipt_signature',
        'receipt_signature',
        'revocation_signature',
      ]),
    )
  }
})

test('[AUD-01] the report says what rests on signatures and what only the exchange says', async () => {
  const held = await verifyEvidence(evidence)
  const { states, exchangeClaims, checks } = held
  assert.deepEqual(states, [
    // That the response answers this package and no other is signed in its content only.
    { packageId: thread.first, state: 'responded', signedState: 'opened' },
    { packageId: thread.answer, state: 'received', signedState: 'received' },
    { packageId: thread.revoked, state: 'revoked', signedState: 'revoked' },
  ])
  const words = Map.groupBy(exchangeClaims, ({ code }) => code)
  const times = words.get('recording') ?? []
  assert.equal(times.length + 2, evidence.entries.length)
  const [unsigned] = words.get('metadata') ?? []
  const covered = Object.keys(unsigned?.value as object)
  assert.deepEqual(covered.toSorted(), [
    'content_type',
    'created_at',
    'expires_at',
    'schema_version',
    'transport_mode',
  ])
  assert.deepEqual(
    words.get('state')?.map(({ value }) => value),
    [{ state: 'responded', signed: 'opened' }],
  )
  // The key was replaced, and disowned after all that it signed.
  const disowned = checks.filter(({ values }) => values?.['key'] === 'disowned_later')
  assert.ok(disowned.length > 0 && disowned.every(({ result }) => result === 'holds'))

  const withContent = await verifyEvidence(evidence, { contents: thread.contents })
  assert.deepEqual(failing(withContent), [])
  assert.equal(withContent.states[0]?.signedState, 'responded')
})

test('[AUD-01] a bundle holds each fact once, and only keys that signed something', () => {
  assert.deepEqual(Object.keys(evidence), ['format', 'thread_id', 'entries', 'packages', 'keys'])
  for (const record of evidence.packages)
    assert.deepEqual(Object.keys(record), ['metadata', 'policy_receipt', 'positions'])
  const positions = evidence.packages.flatMap((record) => record.positions)
  assert.equal(new Set(positions).size, evidence.entries.length)
  const rest = JSON.stringify([evidence.entries, evidence.packages])
  assert.equal(evidence.keys.length, 4)
  for (const { key } of evidence.keys) assert.ok(rest.includes(`"${key.key_id}"`) && key.use === 'signing')
})

test('[AUD-01] the evidence of one package comes with its responses, and content, policy, keys and anchors fit', async () => {
  const bundle = await readEvidence(acme, { packageId: thread.first })
  assert.deepEqual(
    bundle.packages.map(({ metadata }) => metadata.package_id),
    [thread.first, thread.answer],
  )
  const { contents } = thread
  const pinned = async (by: TestAgent, of: TestAgent) =>
    (await by.peers.pins(of.identity.agentId))?.keys.map(({ fingerprint }) => fingerprint) ?? []
  const fingerprints = {
    [acme.identity.agentId]: await pinned(bolt, acme),
    [bolt.identity.agentId]: await pinned(acme, bolt),
  }
  const first = bundle.entries[0]
  assert.ok(first)
  const anchors = [{ threadId, position: 1, hash: first.proof.hash }]
  const report = await verifyEvidence(bundle, {
    fingerprints,
    contents,
    anchors,
    policies: [policyFor(acme, bolt, { purpose: 'an older one' }), thread.input.policy],
  })
  assert.deepEqual(failing(report), [])
  assert.equal(report.states[0]?.signedState, 'responded')
  assert.ok(report.checks.some(({ code, result }) => code === 'content_signature' && result === 'holds'))
  assert.ok(report.checks.some(({ code, result }) => code === 'key_trusted' && result === 'holds'))
  assert.ok(!report.checks.some(({ code, result }) => code === 'content_signature' && result === 'unproved'))

  const content = contents[thread.first]
  assert.ok(content)
  const wrong = [
    { contents: { [thread.first]: content.slice(1) } },
    { contents: { [thread.first]: contents[thread.answer] ?? content } },
    { fingerprints: { [acme.identity.agentId]: ['another'] } },
    { anchors: [{ threadId, position: 1, hash: 'another' }] },
    { policies: [policyFor(acme, bolt, { purpose: 'another' })] },
  ]
  for (const options of wrong) assert.equal((await verifyEvidence(bundle, options)).verdict, 'broken')
  // Without the response, nothing shows that there is one.
  const [alone] = bundle.packages
  assert.ok(alone)
  const own = new Set(alone.positions)
  const entries = bundle.entries.filter(({ position }) => own.has(position))
  const { verdict, states, exchangeClaims, checks } = await verifyEvidence({
    ...bundle,
    entries,
    packages: [alone],
  })
  assert.deepEqual([verdict, states[0]?.signedState], ['holds', 'opened'])
  assert.ok(exchangeClaims.some(({ code }) => code === 'answered'))
  assert.ok(checks.some(({ code }) => code === 'thread_gaps'))
})

test('[AUD-03] an entry taken out, put in or moved is found, and what is no evidence is broken', async () => {
  const { entries } = evidence
  const [a, b, ...rest] = entries
  assert.ok(a && b)
  const wrong = [[b, a, ...rest], [a, a, b, ...rest], [a, ...rest], entries.slice(0, -1), []]
  for (const changed of wrong)
    assert.equal((await verifyEvidence({ ...evidence, entries: changed })).verdict, 'broken')
  let deep: unknown = 'x'
  for (let i = 0; i < 10_000; i++) deep = [deep]
  const [record] = evidence.packages
  const none: unknown[] = [
    null,
    {},
    { ...evidence, format: 'other' },
    { ...evidence, packages: [{}] },
    { ...evidence, packages: [...evidence.packages, record] },
    { ...evidence, thread_id: 'thread_other' },
    { ...evidence, note: 'paid in full' },
    { ...evidence, keys: deep },
    { ...evidence, entries: [{ ...a, proof: { ...a.proof, note: '\ud800' } }, b, ...rest] },
  ]
  for (const value of none) assert.equal((await verifyEvidence(value as EvidenceBundle)).verdict, 'broken')
  const noted = await verifyEvidence({ ...evidence, note: 'paid in full' } as EvidenceBundle)
  assert.match(noted.checks.map(checkText).join(), /\/note/)
})

test('[AUD-01] recorded times that run backwards call for a look', async () => {
  const last = evidence.entries.length - 1
  const entries = evidence.entries.map((entry, index) =>
    index === last ? { ...entry, proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' } } : entry,
  )
  const report = await verifyEvidence(await relinked({ ...evidence, entries }))
  const check = report.checks.find(({ code }) => code === 'recorded_order')
  assert.deepEqual([check?.result, check?.position], ['doubt', last + 1])
})

test('[ID-05] what was signed after a key went bad and before that was known is a doubt', async () => {
  const outbox = createMemoryOutbox()
  const carl = await startAgent(world, 'carl')
  const stolen = world.clock.now()
  world.clock.advance(10)
  const sent = await sendPackage(carl, inputFor(carl, bolt), { outbox })
  const before = await verifyEvidence(await readEvidence(carl, { packageId: sent.packageId }))
  assert.equal(before.verdict, 'holds')
  await carl.connection.call('revokeAgentKey', {
    path: { agent_id: carl.identity.agentId, key_id: (await currentSigningKey(carl)).keyId },
    body: { invalid_from: stolen, reason_code: 'compromise', evidence_reference: 'case_1' },
  })
  const report = await verifyEvidence(await readEvidence(bolt, { packageId: sent.packageId }))
  assert.deepEqual(failing(report), [])
  assert.equal(report.verdict, 'doubtful')
  const doubts = report.checks.filter(({ result }) => result === 'doubt')
  assert.match(doubts.map(checkDetail).join(), /already invalid/)
})
