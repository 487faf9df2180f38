import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { ExchangeError } from '../errors.ts'
import { inputFor, policyFor, responseFor, SECRET_WORDS, SKILL } from '../send/drafts.fixture.ts'
import { approveDraft, initApprover, replaceApprover, resetApprover } from './approve-draft.ts'
import type { FolderAgent } from './connect-folder.ts'
import { folderAgent, QUICK } from './folder-agents.fixture.ts'

const PASSPHRASE = 'correct horse battery staple'
let world: World
let acme: Awaited<ReturnType<typeof folderAgent>>
let bolt: Awaited<ReturnType<typeof folderAgent>>

before(async () => {
  world = await startWorld()
  acme = await folderAgent(world, 'acme')
  bolt = await folderAgent(world, 'bolt')
  await initApprover(acme.path, { passphrase: PASSPHRASE, cost: QUICK })
})
after(async () => {
  await acme?.[Symbol.asyncDispose]()
  await bolt?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

const code = (expected: string, reason?: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, expected, error.message)
  if (reason !== undefined) assert.equal(error.details['reason'], reason)
  assert.ok(!error.message.includes(SECRET_WORDS))
  return true
}
const now = () => new Date(world.clock.now())
const approval = { required: true, approval_id: 'approval_4711' }
/** A package whose policy requires a person. */
const guarded = (from: FolderAgent = acme, to: FolderAgent = bolt) => ({
  ...inputFor(from.context, to.context),
  policy: policyFor(from.context, to.context, { human_approval: approval }),
})
const decide = (draft: { draftId: string; digest: string }, change: object = {}) =>
  approveDraft({
    folder: acme.path,
    draftId: draft.draftId,
    digest: draft.digest,
    decision: 'approved',
    passphrase: PASSPHRASE,
    name: 'Ada Example',
    reason: 'The numbers are public.',
    now,
    ...change,
  })
const fileOf = (draftId: string) => join(acme.folder.files.drafts, `${draftId}.json`)
const rewrite = (draftId: string, change: (text: string) => string) =>
  writeFileSync(fileOf(draftId), change(readFileSync(fileOf(draftId), 'utf8')))

test('[POL-03] a draft waits for a person; the approval is in the receipt as an opaque reference', async () => {
  const draft = await acme.drafts.create(guarded())
  assert.deepEqual([draft.state, draft.approvalRequired], ['waiting', true])
  assert.equal(statSync(fileOf(draft.draftId)).mode & 0o777, 0o600)
  assert.equal(statSync(acme.folder.files.drafts).mode & 0o777, 0o700)
  const { checks, passed, needsPerson, warnings } = await acme.drafts.evaluate(draft.draftId)
  assert.deepEqual([checks.length, passed, needsPerson, warnings], [5, true, true, []])
  assert.deepEqual(
    (await acme.pending()).forPerson.map(({ draftId }) => draftId),
    [draft.draftId],
  )
  await assert.rejects(acme.drafts.send(draft.draftId), code('approval_waiting'))

  const decision = await decide(draft)
  assert.equal((await acme.drafts.get(draft.draftId)).state, 'approved')
  assert.deepEqual((await acme.pending()).toSend.length, 1)
  world.clock.advance(1_000)
  const { packageId } = await acme.drafts.send(draft.draftId)
  const { policyReceipt, object } = await bolt.open(packageId)
  assert.deepEqual(object, draft.object)
  assert.deepEqual(policyReceipt.receipt.human_approval, {
    required: true,
    outcome: 'approved',
    approval_reference: decision.approval_reference,
    approved_at: decision.decided_at,
  })
  const path = { package_id: packageId }
  const evidence = JSON.stringify(await bolt.context.connection.call('getPackageAuditEvidence', { path }))
  assert.ok(evidence.includes('human_approved'))
  assert.doesNotMatch(evidence, /Ada Example|numbers are public/u)

  assert.deepEqual(await acme.drafts.list(), [])
  await assert.rejects(acme.drafts.send(draft.draftId), code('draft_sent'))
  await assert.rejects(
    acme.drafts.create(guarded()).then(() => acme.drafts.get(draft.draftId)),
    code('draft_sent'),
  )
  const [kept] = await acme.drafts.sent()
  assert.deepEqual([kept?.packageId, kept?.decision], [packageId, decision])
  const files = readdirSync(join(acme.folder.files.drafts, 'sent'))
  for (const name of files)
    assert.ok(!readFileSync(join(acme.folder.files.drafts, 'sent', name), 'utf8').includes(SECRET_WORDS))
  for (const { draftId } of await acme.drafts.list()) await acme.drafts.discard(draftId)
})

test('[POL-03] one changed byte after the approval is refused, wherever it is', async () => {
  const changes: [string, (text: string) => string][] = [
    ['content', (text) => text.replace(SECRET_WORDS, SECRET_WORDS.replace('12', '13'))],
    [
      'recipient',
      (text) => text.replaceAll(bolt.identity.agentId, bolt.identity.agentId.replace(/.$/u, 'x')),
    ],
    ['requirement', (text) => text.replaceAll('"required": true', '"required": false')],
    ['policy', (text) => text.replace(/"duration_days": \d+/u, '"duration_days": 3650')],
    ['skill', (text) => text.replace('"version": "1.0.0"', '"version": "1.0.1"')],
    ['thread', (text) => text.replace(/("thread_id": "thread_)./u, '$1z')],
  ]
  for (const [name, change] of changes) {
    const draft = await acme.drafts.create(guarded())
    await decide(draft)
    rewrite(draft.draftId, (text) => {
      assert.notEqual(change(text), text, name)
      return change(text)
    })
    await assert.rejects(acme.drafts.send(draft.draftId), code('draft_altered'), name)
    await assert.rejects(decide(draft), code('draft_altered'), name)
    assert.ok((await acme.drafts.damaged()).includes(draft.draftId))
    assert.equal(await acme.outbox.read(draft.packageId), undefined)
    await acme.drafts.discard(draft.draftId)
  }
})

test('[POL-03] an approval counts for its draft alone, as it was signed, and for a limited time', async () => {
  const first = await acme.drafts.create(guarded())
  const second = await acme.drafts.create(guarded())
  await decide(first)
  const { decision } = await acme.drafts.get(first.draftId)
  const plant = (planted: unknown) => {
    const file = JSON.parse(readFileSync(fileOf(second.draftId), 'utf8')) as object
    writeFileSync(fileOf(second.draftId), JSON.stringify({ ...file, decision: planted }))
  }
  const refused = async (planted: unknown, reason: string) => {
    plant(planted)
    await assert.rejects(acme.drafts.send(second.draftId), code('approval_invalid', reason))
    assert.equal((await acme.drafts.get(second.draftId)).state, 'void')
  }
  await refused(decision, 'other_draft')
  const { draftId, digest } = second
  await refused({ ...decision, draft_id: draftId, draft_digest: digest }, 'signature')
  const declined = await decide(second, { decision: 'declined' })
  await assert.rejects(acme.drafts.send(draftId), code('approval_declined'))
  assert.equal((await acme.drafts.get(draftId)).state, 'declined')
  await refused({ ...declined, decision: 'approved' }, 'signature')
  await refused({ ...declined, name: 'Mallory' }, 'signature')
  const future = () => new Date(now().getTime() + 120_000)
  await decide(second, { now: future })
  await assert.rejects(acme.drafts.send(draftId), code('approval_invalid', 'in_the_future'))
  const old = () => new Date(now().getTime() - 86_400_001)
  await decide(second, { now: old })
  await assert.rejects(acme.drafts.send(draftId), code('approval_invalid', 'too_old'))
  assert.equal(await acme.outbox.read(second.packageId), undefined)
  for (const open of [first, second]) await acme.drafts.discard(open.draftId)
})

test('the passphrase alone approves: not a wrong one, not an empty name, not another digest', async () => {
  const draft = await acme.drafts.create(guarded())
  await assert.rejects(decide(draft, { passphrase: 'wrong horse battery staple' }), code('approver_locked'))
  await assert.rejects(decide(draft, { passphrase: '' }), code('approver_locked'))
  await assert.rejects(decide(draft, { name: ' ' }), code('input_invalid'))
  await assert.rejects(decide(draft, { reason: 'x'.repeat(2_001) }), code('input_invalid'))
  await assert.rejects(decide(draft, { digest: 'sha-256=:AAAA:' }), code('draft_altered'))
  await assert.rejects(decide({ ...draft, draftId: '../agent' }), code('draft_missing'))
  assert.equal((await acme.drafts.get(draft.draftId)).state, 'waiting')
  await acme.drafts.discard(draft.draftId)
  await assert.rejects(acme.drafts.get(draft.draftId), code('draft_missing'))
  await assert.rejects(acme.drafts.discard(draft.draftId), code('draft_missing'))
})

test('an approve callback never approves a draft', async () => {
  const draft = await acme.drafts.create({ ...guarded(), approve: () => ({ approved: true }) } as never)
  await assert.rejects(acme.drafts.send(draft.draftId), code('approval_waiting'))
  await acme.drafts.discard(draft.draftId)
})

test('a draft without need of a person is sent at once, and twice is one package', async () => {
  const input = inputFor(acme.context, bolt.context)
  const draft = await acme.drafts.create(input)
  assert.equal((await acme.drafts.create(input)).draftId, draft.draftId, 'the same content is the same draft')
  assert.equal(draft.state, 'ready')
  const text = readFileSync(fileOf(draft.draftId), 'utf8')
  const first = await acme.drafts.send(draft.draftId)
  // As after a crash between acceptance and the removal of the draft.
  writeFileSync(fileOf(draft.draftId), text, { mode: 0o600 })
  const again = await acme.drafts.send(draft.draftId)
  assert.deepEqual([again.packageId, again.resumed], [first.packageId, true])
  assert.ok(!existsSync(fileOf(draft.draftId)))
})

test('a package that was sent is not drafted again, whether it was a draft or not', async () => {
  const input = inputFor(acme.context, bolt.context)
  const { packageId, threadId } = await acme.send(input)
  await assert.rejects(acme.drafts.create(input), (error: unknown) => {
    assert.ok(error instanceof ExchangeError)
    assert.deepEqual(error.details, { packageId, threadId })
    return code('package_sent')(error)
  })
  assert.deepEqual(
    (await acme.drafts.list()).filter((draft) => draft.packageId === packageId),
    [],
  )

  const draft = await acme.drafts.create(inputFor(acme.context, bolt.context))
  await acme.drafts.send(draft.draftId)
  const again = { object: draft.object, policy: draft.policy, to: draft.recipient, skill: draft.skill }
  await assert.rejects(
    acme.drafts.create(again as Parameters<typeof acme.drafts.create>[0]),
    (error: unknown) => {
      assert.ok(error instanceof ExchangeError)
      assert.deepEqual(
        [error.details['packageId'], error.details['threadId']],
        [draft.packageId, draft.threadId],
      )
      return code('draft_sent')(error)
    },
  )
})

test('a response is drafted, approved and sent in the thread of its package', async () => {
  const { packageId, threadId } = await bolt.send(inputFor(bolt.context, acme.context))
  const draft = await acme.drafts.create({
    respondsTo: packageId,
    object: responseFor(acme.context, { packageId, threadId }),
    policy: policyFor(acme.context, bolt.context, { human_approval: approval }),
    skill: SKILL,
  })
  assert.deepEqual([draft.respondsTo, draft.recipient, draft.threadId], [packageId, bolt.identity, threadId])
  await decide(draft)
  const sent = await acme.drafts.send(draft.draftId)
  assert.equal(sent.metadata.responds_to_package_id, packageId)
  assert.equal((await bolt.open(sent.packageId)).policyReceipt.receipt.human_approval.required, true)
})

test('checks that fail are a result of evaluate, and an error of send', async () => {
  const input = inputFor(acme.context, bolt.context)
  const policy = policyFor(acme.context, bolt.context, { allowed_recipients: ['org_other'] })
  const draft = await acme.drafts.create({ ...input, policy })
  const { passed, checks } = await acme.drafts.evaluate(draft.draftId)
  assert.equal(passed, false)
  assert.deepEqual(
    checks.filter((check) => !check.passed).map(({ checkId }) => checkId),
    ['recipient_authorization'],
  )
  await assert.rejects(acme.drafts.send(draft.draftId), code('policy_refused'))
  await acme.drafts.discard(draft.draftId)
})

test('a file of a draft that others can read or that is no draft is refused, and can be discarded', async () => {
  const draft = await acme.drafts.create(guarded())
  chmodSync(fileOf(draft.draftId), 0o644)
  await assert.rejects(acme.drafts.get(draft.draftId), code('draft_unreadable'))
  assert.deepEqual(await acme.drafts.damaged(), [draft.draftId])
  chmodSync(fileOf(draft.draftId), 0o600)
  writeFileSync(fileOf(draft.draftId), '{"format":"aex-draft"}')
  await assert.rejects(acme.drafts.send(draft.draftId), code('draft_unreadable'))
  await acme.drafts.discard(draft.draftId)
  await assert.rejects(
    acme.drafts.create({ ...guarded(), object: { object_type: 'reasoning_package' } } as never),
    code('object_invalid'),
  )
})

test('replacing the approver needs the old passphrase and keeps decisions; a reset voids them', async () => {
  const draft = await acme.drafts.create(guarded())
  await decide(draft)
  const next = { passphrase: 'a second long passphrase', cost: QUICK, now }
  await assert.rejects(initApprover(acme.path, next), code('approver_exists'))
  await assert.rejects(replaceApprover(acme.path, 'wrong passphrase', next), code('approver_locked'))
  await assert.rejects(
    replaceApprover(acme.path, PASSPHRASE, { ...next, passphrase: 'short' }),
    code('input_invalid'),
  )
  const first = await acme.drafts.get(draft.draftId)
  await replaceApprover(acme.path, PASSPHRASE, next)
  const second = await acme.drafts.get(draft.draftId)
  assert.equal(second.state, 'approved')
  assert.equal(second.decision?.approval_reference, first.decision?.approval_reference)
  assert.notEqual(second.decision?.signature.key_id, first.decision?.signature.key_id)
  await assert.rejects(decide(draft), code('approver_locked'), 'the old passphrase is over')
  await resetApprover(acme.path, { passphrase: PASSPHRASE, cost: QUICK, approves: 'every_draft' })
  await assert.rejects(acme.drafts.send(draft.draftId), code('approval_invalid', 'signature'))
  assert.equal((await acme.drafts.get(draft.draftId)).state, 'void')

  const plain = await acme.drafts.create(inputFor(acme.context, bolt.context))
  assert.equal(plain.state, 'waiting', 'every draft needs a person now, whatever its policy says')
  await assert.rejects(acme.drafts.send(plain.draftId), code('approval_waiting'))
  await decide(plain)
  const { packageId } = await acme.drafts.send(plain.draftId)
  assert.equal((await bolt.open(packageId)).policyReceipt.receipt.human_approval.required, true)
  await assert.rejects(
    bolt.drafts.create(guarded(bolt, acme)).then(({ draftId }) => bolt.drafts.send(draftId)),
    code('approver_missing'),
  )
})
