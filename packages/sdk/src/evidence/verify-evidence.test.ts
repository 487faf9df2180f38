import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import fc from 'fast-check'
import { startAgent, startAgents, type TestAgent } from '../agents.fixture.ts'
import { inputFor, policyFor, responseFor, SKILL } from '../exchange/drafts.fixture.ts'
import { createMemoryOutbox } from '../exchange/memory-outbox.ts'
import { openPackage } from '../exchange/open-package.ts'
import { currentSigningKey } from '../exchange/own-keys.ts'
import { respondToPackage } from '../exchange/respond-to-package.ts'
import { revokePackage } from '../exchange/revoke-package.ts'
import { sendPackage } from '../exchange/send-package.ts'
import type { EvidenceBundle } from './evidence-bundle.ts'
import { readEvidence } from './read-evidence.ts'
import { verifyEvidence } from './verify-evidence.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
const outbox = createMemoryOutbox()

/** Everything that can happen to packages of one thread. */
async function wholeThread(from: TestAgent) {
  const input = inputFor(from, bolt)
  const sent = await sendPackage(from, input, { outbox })
  await openPackage(bolt, sent.packageId)
  const answer = await respondToPackage(
    bolt,
    sent.packageId,
    { object: responseFor(bolt, sent), policy: policyFor(bolt, from), skill: SKILL },
    { outbox },
  )
  await openPackage(from, answer.packageId, { receipts: 'received' })
  const second = await sendPackage(from, inputFor(from, bolt, { thread_id: sent.threadId }), { outbox })
  await revokePackage(from, second.packageId, { reasonCode: 'superseded', reasonDetail: 'Newer.' })
  return { ...sent, policy: input.policy }
}

const thread = await wholeThread(acme)
const evidence = await readEvidence(bolt, { threadId: thread.threadId })
const failing = (report: Awaited<ReturnType<typeof verifyEvidence>>) =>
  report.checks.filter(({ ok }) => !ok).map(({ what, detail }) => `${what}: ${detail}`)

test('[AUD-01][AUD-03] the evidence of a thread holds, offline, on either side', async () => {
  for (const by of [acme, bolt]) {
    const bundle = JSON.parse(
      JSON.stringify(await readEvidence(by, { threadId: thread.threadId })),
    ) as EvidenceBundle
    const report = await verifyEvidence(bundle)
    assert.deepEqual(failing(report), [])
    assert.equal(report.verdict, 'holds')
    assert.equal(bundle.packages.length, 3)
    assert.equal(report.chainEnd?.hash, bundle.thread.entries.at(-1)?.proof.hash)
    const looked = new Set(report.checks.map(({ what }) => what))
    for (const what of [
      'the platform signed its acceptance',
      'the sender signed the policy receipt',
      'the recipient signed the receipt "received"',
      'the recipient signed the receipt "opened"',
      'the sender signed the revocation',
    ])
      assert.ok(looked.has(what), what)
    assert.ok(report.unverifiable.every(({ why }) => why.endsWith('.')))
  }
})

test('[AUD-01] the evidence of one package comes with its thread, and content, policy, keys and anchors fit', async () => {
  const bundle = await readEvidence(acme, { packageId: thread.packageId })
  const resource = await acme.connection.call('getPackage', { path: { package_id: thread.packageId } })
  const content = await acme.connection.download(resource.ciphertext_download_url ?? '', {
    maximumBytes: 1_000_000,
  })
  const pinned = async (by: TestAgent, of: TestAgent) =>
    (await by.peers.pins(of.identity.agentId))?.keys.map(({ fingerprint }) => fingerprint) ?? []
  const fingerprints = {
    [acme.identity.agentId]: await pinned(bolt, acme),
    [bolt.identity.agentId]: await pinned(acme, bolt),
  }
  const first = bundle.thread.entries[0]
  assert.ok(first)
  const anchors = [{ threadId: thread.threadId, position: 1, hash: first.proof.hash }]
  const contents = { [thread.packageId]: content }
  const report = await verifyEvidence(bundle, { fingerprints, contents, anchors, policies: [thread.policy] })
  assert.deepEqual(failing(report), [])
  assert.ok(report.checks.some(({ what }) => what === 'the sender signed the content'))
  assert.ok(report.checks.some(({ what }) => what === 'the key is one that is trusted'))
  assert.ok(!report.unverifiable.some(({ what }) => what.includes('over the content')))

  const wrong = [
    { contents: { [thread.packageId]: content.slice(1) } },
    { fingerprints: { [acme.identity.agentId]: ['another'] } },
    { anchors: [{ threadId: thread.threadId, position: 1, hash: 'another' }] },
    { policies: [policyFor(acme, bolt, { purpose: 'another' })] },
  ]
  for (const options of wrong) assert.equal((await verifyEvidence(bundle, options)).verdict, 'broken')
})

/** Where a change cannot be seen, and why that is no lie that matters. */
const UNSEEN = [
  // When it was asked for, and what no signature and no hash covers: the exchange's own bookkeeping.
  /^\/collectedAt$/,
  /\/generated_at$/,
  /\/(?:next_cursor|has_more)$/,
  /\/delivery_attempts\//,
  /\/package\/(?:updated_at|ciphertext_download_url)$/,
  /\/policy_receipt\/(?:accepted_at|signature_status|package_authorization|audit_event_id)$/,
  /\/receipts\/\d+\/(?:accepted_at|signature_form)$/,
  /\/platformKeys\/(?:directory_version|generated_at|organization_id)$/,
  // Keys are known by id and material; who they belong to is for fingerprints to say.
  /\/(?:key|keys\/\d+)\/(?:status|registered_at|valid_from|valid_until|format|replaces_key_id)$/,
  /\/key_history\/\d+\/events\//,
]

/** Every place of a JSON value that holds a plain value. */
function leavesOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]))
}

function changedAt(value: unknown, path: readonly (string | number)[]): unknown {
  const [step, ...rest] = path
  if (step === undefined) return changed(value)
  if (Array.isArray(value))
    return value.map((item, index) => (String(index) === step ? changedAt(item, rest) : item))
  return { ...(value as object), [step]: changedAt(Reflect.get(value as object, step), rest) }
}

/** Another value of the same kind: one digit or letter is another one. */
function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 'x'
  const at = value.search(/[0-9A-Za-z](?=[^0-9A-Za-z]*$)/)
  const letter = value[at] ?? 'x'
  const other = /\d/.test(letter) ? String((Number(letter) + 1) % 10) : letter === 'a' ? 'b' : 'a'
  return `${value.slice(0, at)}${other}${value.slice(at + 1)}`
}

test('[AUD-03] any one value that is changed is found out', async () => {
  // Nothing rests on keys that signed nothing.
  const reliedOn = {
    ...evidence,
    packages: evidence.packages.map((one) => {
      const rest = JSON.stringify({ ...one, key_history: [] })
      return { ...one, key_history: one.key_history.filter(({ key }) => rest.includes(`"${key.key_id}"`)) }
    }),
  }
  const contents: Record<string, Uint8Array> = {}
  for (const { package_id } of evidence.packages)
    contents[package_id] = new TextEncoder().encode((await outbox.read(package_id))?.envelopeText)
  assert.equal((await verifyEvidence(reliedOn, { contents })).verdict, 'holds')
  const leaves = leavesOf(reliedOn).filter(
    (path) => !UNSEEN.some((place) => place.test(`/${path.join('/')}`)),
  )
  assert.ok(leaves.length > 300)
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...leaves), async (path) => {
      const report = await verifyEvidence(changedAt(reliedOn, path) as EvidenceBundle, { contents })
      assert.equal(report.verdict, 'broken', path.join('/'))
    }),
    { numRuns: 150 },
  )
})

test('[AUD-03] an entry taken out, put in or moved is found out', async () => {
  const { entries } = evidence.thread
  const withEntries = (changedEntries: typeof entries): EvidenceBundle => ({
    ...evidence,
    thread: { ...evidence.thread, entries: changedEntries },
  })
  const [a, b, ...rest] = entries
  assert.ok(a && b)
  const wrong = [[b, a, ...rest], [a, a, b, ...rest], [a, ...rest], entries.slice(0, -1), []]
  for (const changedEntries of wrong)
    assert.equal((await verifyEvidence(withEntries(changedEntries))).verdict, 'broken')
  for (const value of [null, {}, { ...evidence, format: 'other' }, { ...evidence, packages: [{}] }])
    assert.equal((await verifyEvidence((value ?? {}) as EvidenceBundle)).verdict, 'broken')
})

test('[ID-05] what was signed after a key went bad and before that was known is a doubt', async () => {
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
  assert.ok(report.checks.some(({ doubt, detail }) => doubt && detail.includes('already invalid')))
})
