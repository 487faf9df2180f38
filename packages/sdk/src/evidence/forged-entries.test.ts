import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signDetached, signPackageStatement } from '@agent-exchange/crypto'
import { startWorld } from '@agent-exchange/testkit'
import type { EvidenceBundle, KeyRecord, ThreadEntry } from '@agent-exchange/log'
import { verifyEvidence, type Check } from '@agent-exchange/log'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { sendPackage } from '../send/send-package.ts'
import { failing, relinked } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const acme = await startAgent(world, 'acme')
const bolt = await startAgent(world, 'bolt')
const colleague = await startAgent(world, 'colleague', { colleagueOf: bolt })
const another = await startAgent(world, 'another', { colleagueOf: acme })
const mallory = await startAgent(world, 'mallory')

/** Two packages: the first was opened, of the second nobody has said anything. */
const outbox = createMemoryOutbox()
const opened = await sendPackage(acme, inputFor(acme, bolt), { outbox })
await openPackage(bolt, opened.packageId)
const silent = await sendPackage(acme, inputFor(acme, bolt, { thread_id: opened.threadId }), { outbox })
const evidence = await readEvidence(acme, { threadId: opened.threadId })
const digest = evidence.packages[1]?.metadata.content_digest ?? ''

type Proof = Readonly<Record<string, unknown>> & { readonly kind: string }

/** The exchange appends entries about the second package, links them, and shows keys beside its own. */
function forged(proofs: readonly Proof[], keys: readonly KeyRecord[] = []): Promise<EvidenceBundle> {
  const start = evidence.entries.length
  const entries = proofs.map((proof, index): ThreadEntry => ({
    position: start + index + 1,
    proof: { recorded_at: world.clock.now(), previous_hash: null, hash: '', ...proof },
  }))
  const positions = entries.map(({ position }) => position)
  return relinked({
    ...evidence,
    entries: [...evidence.entries, ...entries],
    packages: evidence.packages.map((record, index) =>
      index === 1 ? { ...record, positions: [...record.positions, ...positions] } : record,
    ),
    keys: [...evidence.keys, ...keys],
  })
}

const RECEIVED = { kind: 'receipt_received', state: 'received', implied_states: ['delivered'] }
const OPENED = { kind: 'receipt_opened', state: 'opened', implied_states: [] }

function statement(actor: TestAgent, receiptId: string) {
  return {
    receipt_id: receiptId,
    occurred_at: world.clock.now(),
    actor_agent_id: actor.identity.agentId,
    package_digest: digest,
  }
}

/** A receipt that an agent signs, in the name of itself or of another one. */
async function signedReceipt(
  signer: TestAgent,
  actor: TestAgent,
  state: 'received' | 'opened',
): Promise<Proof> {
  const body = statement(actor, `rcpt_${state}`)
  const key = await currentSigningKey(signer)
  const signature = await signPackageStatement({ ...body, state }, { ...key, packageId: silent.packageId })
  return { ...(state === 'received' ? RECEIVED : OPENED), ...body, signature, signature_form: 'bound' }
}

/** What the exchange would show of the current signing key of an agent. */
async function recordOf({ connection, identity }: TestAgent): Promise<KeyRecord[]> {
  const { organization_id, keys } = await connection.call('getAgentKeys', {
    path: { agent_id: identity.agentId },
  })
  return keys
    .filter(({ use }) => use === 'signing')
    .map((key) => ({ organization_id, agent_id: identity.agentId, key }))
}

/** The proof of the real receipt for the first package. */
function realReceipt(kind: string): Proof {
  const entry = evidence.entries.find(({ proof }) => proof.kind === kind)
  assert.ok(entry)
  const { hash: _, previous_hash: __, recorded_at: ___, ...proof } = entry.proof
  return proof
}

async function assertBroken(bundle: EvidenceBundle, said: RegExp): Promise<void> {
  const report = await verifyEvidence(bundle)
  assert.equal(report.verdict, 'broken')
  assert.match(failing(report).join('\n'), said)
  const proved = report.states.find(({ packageId }) => packageId === silent.packageId)
  assert.equal(proved?.signedState, 'accepted')
}

test('[PKG-08][AUD-01] receipts that nobody signed prove nothing, and the evidence is broken', async () => {
  const unsigned = [RECEIVED, OPENED].map((receipt, index) => ({
    ...receipt,
    ...statement(bolt, `rcpt_${index}`),
  }))
  const bundle = await forged(unsigned)
  await assertBroken(bundle, /receipt_signature.*no_signature.*"received"/)
  await assertBroken(bundle, /receipt_signature.*no_signature.*"opened"/)
  await assertBroken(bundle, /entry_state.*kind_leads_elsewhere/)
  await assertBroken(await forged([RECEIVED]), /no_signature/)
  await assertBroken(await forged([{ kind: 'receipt_paid' }]), /unknown_receipt.*"paid"/)
})

test('[PKG-08] a receipt of another package is found, also where its digest is changed', async () => {
  const copied = realReceipt('receipt_received')
  await assertBroken(await forged([{ ...copied, implied_states: ['delivered'] }]), /other_content/)
  await assertBroken(
    await forged([{ ...copied, package_digest: digest, implied_states: ['delivered'] }]),
    /signature_copied/,
  )
})

test('[PKG-08] a signature of another agent or of another organization is found', async () => {
  const bySender = await signedReceipt(acme, bolt, 'received')
  await assertBroken(await forged([bySender]), new RegExp(`key_of_other.*${acme.identity.agentId}`))
  const asSender = await signedReceipt(acme, acme, 'received')
  await assertBroken(await forged([asSender]), /agent_acme\w+.*other_organization.*org_acme/)
  const byStranger = await signedReceipt(mallory, mallory, 'opened')
  await assertBroken(
    await forged([{ ...byStranger, implied_states: ['delivered', 'received'] }], await recordOf(mallory)),
    /agent_mallory\w+.*other_organization.*org_mallory/,
  )
  await assertBroken(await forged([byStranger]), /key_unknown/)
  const inItsName = await signedReceipt(mallory, bolt, 'received')
  await assertBroken(await forged([inItsName], await recordOf(mallory)), /key_of_other.*agent_mallory/)
  const claimed = { ...(await signedReceipt(bolt, bolt, 'received')), occurred_at: '2020-01-01T00:00:00Z' }
  await assertBroken(await forged([claimed]), /receipt_signature.*signature_mismatch/)
})

test('[PKG-08] another agent of the recipient’s organization may sign (O-46): the report names it', async () => {
  const receipt = await signedReceipt(colleague, colleague, 'received')
  const report = await verifyEvidence(await forged([receipt], await recordOf(colleague)))
  assert.deepEqual(failing(report), [])
  const { agentId, organizationId } = colleague.identity
  const check = report.checks.find(
    ({ agent_id, code }) => agent_id === agentId && code === 'receipt_signature',
  )
  assert.deepEqual(
    [check?.result, check?.values?.['state'], check?.values?.['role']],
    ['holds', 'received', 'other'],
  )
  const word = report.exchangeClaims.find(({ code }) => code === 'membership')
  assert.deepEqual(word?.value, { agent_id: agentId, organization_id: organizationId })
  assert.deepEqual(report.states[1], {
    packageId: silent.packageId,
    state: 'received',
    signedState: 'received',
  })
})

test('[PKG-08] a receipt is judged at its arrival, and counts once', async () => {
  const receipt = await signedReceipt(bolt, bolt, 'received')
  const report = await verifyEvidence(await forged([receipt]))
  assert.deepEqual(failing(report), [])
  const { values } = report.checks.find(({ position }) => position === 10) ?? {}
  assert.ok(values?.['said_at'] !== undefined && values['arrived_at'] !== undefined)
  const fetched = { kind: 'content_fetched' }
  await assertCopied(await forged([receipt, fetched, receipt]))
  // The same bytes in another alphabet are the same signature.
  const signature = receipt['signature'] as { readonly signature: string }
  const text = signature.signature.replaceAll('-', '+').replaceAll('_', '/')
  const again = { ...receipt, signature: { ...signature, signature: `${text}==` } }
  await assertCopied(await forged([receipt, fetched, again]))

  async function assertCopied(bundle: EvidenceBundle) {
    const { checks } = await verifyEvidence(bundle)
    assert.ok(
      checks.some(({ result, values: found }) => result === 'fails' && found?.fault === 'signature_copied'),
    )
  }
})

test('[PKG-11][AUD-01] no entry that nobody signed moves a package to a state that needs a signature', async () => {
  const moved = { state: 'opened', implied_states: ['delivered', 'received'] }
  for (const kind of ['content_fetched', 'delivery_replayed', 'something_else'])
    await assertBroken(await forged([{ kind, ...moved }]), /entry_state.*kind_leads_elsewhere/)
  const fetched = { kind: 'content_fetched', state: 'delivered', implied_states: [] }
  const report = await verifyEvidence(
    await forged([
      { ...fetched, organization_id: 'org_a', client_id: 'client_a' },
      { kind: 'delivery_replayed', actor: 'operator_a', reason: 'lost' },
      { kind: 'something_else', note: 'new' },
    ]),
  )
  assert.deepEqual(failing(report), [])
  assert.deepEqual(report.states[1], {
    packageId: silent.packageId,
    state: 'delivered',
    signedState: 'accepted',
  })
  const words = report.exchangeClaims.filter(({ position }) => position && position > evidence.entries.length)
  assert.deepEqual(
    words.map(({ code }) => code),
    ['content_fetched', 'delivery_replayed', 'unknown_kind'],
  )
  assert.match(JSON.stringify(words), /client_a.*operator_a.*"note":"new"/)
})

test('[PKG-10] a revocation needs the signature of the sender’s organization', async () => {
  const body = { requested_at: world.clock.now(), reason_code: 'superseded', reason_detail: 'Newer.' }
  const revocation = { kind: 'package_revoked', state: 'revoked', implied_states: [], ...body }
  await assertBroken(await forged([revocation]), /revocation_signature.*no_signature/)
  const { packageId } = silent
  const signBy = async (agent: TestAgent) =>
    signPackageStatement(body, { ...(await currentSigningKey(agent)), packageId })
  const byRecipient = { ...revocation, signature: await signBy(bolt) }
  await assertBroken(await forged([byRecipient]), /revocation_signature.*key_unknown/)
  const bound = { ...revocation, signature: await signBy(acme) }
  const held = await verifyEvidence(await forged([bound]))
  assert.deepEqual([failing(held), held.states[1]?.signedState], [[], 'revoked'])
  const byAnother = await forged(
    [{ ...revocation, signature: await signBy(another) }],
    await recordOf(another),
  )
  const named = await verifyEvidence(byAnother)
  assert.deepEqual(failing(named), [])
  const { agentId } = another.identity
  const isBy = ({ code, agent_id }: Check) => code === 'revocation_signature' && agent_id === agentId
  assert.equal(named.checks.find(isBy)?.values?.['role'], 'other')
  // PKG-08: a receipt may follow, but cannot move the package any more.
  const receipt = await signedReceipt(bolt, bolt, 'received')
  const recorded = { ...receipt, state: undefined, implied_states: undefined }
  const followed = await verifyEvidence(await forged([bound, recorded]))
  assert.deepEqual([failing(followed), followed.states[1]?.signedState], [[], 'revoked'])
  assert.match(failing(await verifyEvidence(await forged([bound, receipt]))).join(), /already_revoked/)
  // Signed without naming the package: which one was meant is the exchange's word.
  const plain = await signDetached(body, { ...(await currentSigningKey(acme)), member: 'signature' })
  const report = await verifyEvidence(await forged([{ ...revocation, signature: plain }]))
  assert.deepEqual(failing(report), [])
  assert.ok(report.exchangeClaims.some(({ code }) => code === 'revoked_package'))
})

test('[AUD-01] entries outside of the chain, or of no package, prove nothing', async () => {
  const unlinked = {
    proof: { kind: 'policy_receipt_accepted', signature: 'x', recorded_at: world.clock.now() },
  }
  const shown = await verifyEvidence({ ...evidence, unlinked_entries: [unlinked] })
  assert.equal(shown.verdict, 'holds')
  const word = shown.exchangeClaims.find(({ code }) => code === 'unlinked_entry')
  assert.deepEqual(word?.value, unlinked)
  const forgedOutside = { proof: { kind: 'receipt_opened' } }
  await assertBroken({ ...evidence, unlinked_entries: [forgedOutside] }, /unlinked_entry/)
  const bundle = await forged([RECEIVED])
  await assertBroken(
    { ...bundle, packages: evidence.packages },
    /entry_package.*needs_package.*receipt_received/,
  )
})
