import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { setAgentDefaults } from '@agent-exchange/sdk/internal/node'
import {
  accessibilityFaults,
  assertNoHorizontalScroll,
  assertQuiet,
  screenshot,
} from '@agent-exchange/testkit/browser'
import { guardedDraft, SKILL, type DeskSide } from '../src/desk.fixture.ts'
import { addressOf, fillDecision, startDeskTrial, type DeskTrial } from './desk-trial.fixture.ts'

let trial: DeskTrial
before(async () => {
  trial = await startDeskTrial()
})
after(() => trial?.[Symbol.asyncDispose]())

/** Every page in the widths and schemes of a phone and a laptop. */
async function checkDeskPage(side: DeskSide, name: string, path: string): Promise<void> {
  for (const width of [360, 1_280])
    for (const colorScheme of ['light', 'dark'] as const) {
      await using watched = await trial.signedIn(side, path, {
        viewport: { width, height: 900 },
        colorScheme,
      })
      await screenshot(watched.page, `desk-${name}-${width}-${colorScheme}`)
      await watched.page.evaluate(
        "document.querySelectorAll('main details').forEach((each) => (each.open = true))",
      )
      await assertNoHorizontalScroll(watched.page)
      if ((width === 360) === (colorScheme === 'light'))
        assert.deepEqual(await accessibilityFaults(watched.page), [], `${name} ${width} ${colorScheme}`)
      assertQuiet(watched)
    }
}

test('[POL-03] a draft is approved at the desk, sent, verified by the recipient, and answered', async () => {
  const { acme, bolt } = trial
  const draft = await guardedDraft(acme, bolt)
  await using watched = await trial.signedIn(acme)
  const { page } = watched
  await page.getByRole('link', { name: 'Reasoning package' }).click()
  assert.equal(await page.getByText('passed', { exact: true }).count(), 5)
  await page.getByText('Exactly these bytes are sealed').click()
  assert.match(
    (await page.locator('pre.exact').textContent()) ?? '',
    /"summary":"Rails for two seat variants/u,
  )
  assert.equal(await page.getByRole('button', { name: 'Seal and send now' }).count(), 0)
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('Sent. The exchange accepted the package.').waitFor()
  assertQuiet(watched)

  const { policyReceipt, object } = await bolt.agent.open(draft.packageId, { receipts: 'none' })
  const [sent] = await acme.agent.drafts.sent()
  assert.deepEqual(object, draft.object)
  assert.equal(policyReceipt.receipt.human_approval.required, true)
  assert.equal(policyReceipt.receipt.human_approval.approval_reference, sent?.decision?.approval_reference)
  const evidence = JSON.stringify(
    await bolt.agent.context.connection.call('getPackageAuditEvidence', {
      path: { package_id: draft.packageId },
    }),
  )
  assert.ok(evidence.includes('human_approved'))
  assert.ok(!evidence.includes('Ada Example'))

  await using other = await trial.signedIn(bolt)
  await other.page.getByText('agent_acme of org_acme').waitFor()
  await other.page.locator(`a[href="/threads/${draft.threadId}"]`).first().click()
  assert.equal(await other.page.getByText('Rails for two seat variants').count(), 0, 'still sealed')
  await other.page.getByRole('button', { name: 'Open and send receipts' }).click()
  await other.page.getByText('Signed receipts were sent').waitFor()
  await other.page.getByText('Conversation, newest first').click()
  await other.page.getByText('Rails for two seat variants').first().waitFor()
  await other.page.goto(addressOf(bolt, `/packages/${draft.packageId}`))
  await other.page.getByText('From the other company').waitFor()
  await other.page.getByRole('link', { name: 'Answer' }).click()
  await other.page.getByLabel('Response summary').fill('One variant can wait.')
  await other.page.getByRole('button', { name: 'Make the draft' }).click()
  await other.page.getByText('No draft was made.').waitFor()
  await other.page.getByLabel('Challenge', { exact: true }).check()
  await other.page.getByText('Added facts', { exact: true }).click()
  await other.page.getByLabel('Statement').fill('Variant B is covered until week 13.')
  await other.page.getByLabel('Sensitivity').selectOption('internal')
  await other.page.getByRole('button', { name: 'Make the draft' }).click()
  await other.page.getByText('The answer is a draft.').waitFor()
  await fillDecision(other.page)
  await other.page.getByRole('button', { name: 'Approve' }).click()
  await other.page.getByRole('button', { name: 'Seal and send now' }).click()
  await other.page.getByText('Sent. The exchange accepted').waitFor()
  // The refused form.
  assert.deepEqual(
    other.faults.filter((fault) => !fault.includes('422')),
    [],
  )

  await page.goto(addressOf(acme, `/threads/${draft.threadId}`))
  await page.getByRole('button', { name: 'Open and send receipts' }).click()
  await page.getByText('Variant B is covered until week 13.').first().waitFor()
  await page.getByRole('link', { name: 'Evidence of the thread' }).click()
  await page.getByRole('heading', { name: 'What happened' }).waitFor()
  assert.equal(await page.locator('.notice.bad').count(), 0)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the evidence' }).click(),
  ])
  assert.match(readFileSync(await download.path(), 'utf8'), /"thread_id"/u)
})

test('[POL-03] one changed byte after the approval is refused', async () => {
  const { acme, bolt } = trial
  const draft = await guardedDraft(acme, bolt)
  const file = join(acme.agent.folder.files.drafts, `${draft.draftId}.json`)
  const alter = () => writeFileSync(file, readFileSync(file, 'utf8').replace('week 12', 'week 13'))
  await using watched = await trial.signedIn(acme, `/drafts/${draft.draftId}`)
  const { page } = watched
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('button', { name: 'Seal and send now' }).waitFor()
  alter()
  await page.getByRole('button', { name: 'Seal and send now' }).click()
  await page.getByText('draft_altered').waitFor()
  assert.equal(await acme.agent.outbox.read(draft.packageId), undefined)
  await page.goto(addressOf(acme, '/drafts'))
  await page.getByText('A draft was changed after it was made').waitFor()
  await page.getByText('Discard…').click()
  await page.getByRole('button', { name: 'Discard now' }).click()
  await page.getByText('The draft is discarded.').waitFor()
})

test('what is approved is what was shown: a draft that changes under the form is refused', async () => {
  const { acme, bolt } = trial
  const draft = await guardedDraft(acme, bolt)
  const file = join(acme.agent.folder.files.drafts, `${draft.draftId}.json`)
  await using watched = await trial.signedIn(acme, `/drafts/${draft.draftId}`)
  await fillDecision(watched.page)
  writeFileSync(file, readFileSync(file, 'utf8').replace('week 12', 'week 13'))
  await watched.page.getByRole('button', { name: 'Approve' }).click()
  await watched.page.getByText('draft_altered').waitFor()
  await acme.agent.drafts.discard(draft.draftId)
})

test('a declined draft is not sent; a package that nobody opened is revoked', async () => {
  const { acme, bolt } = trial
  const draft = await guardedDraft(acme, bolt)
  await using watched = await trial.signedIn(acme, `/drafts/${draft.draftId}`)
  const { page } = watched
  await fillDecision(page)
  await page.getByRole('button', { name: 'Decline' }).click()
  await page.getByText('Declined. The draft will not be sent.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Seal and send now' }).count(), 0)
  await assert.rejects(acme.agent.drafts.send(draft.draftId), { code: 'approval_declined' })
  await acme.agent.drafts.discard(draft.draftId)

  const terms = { by: acme.agent.identity, to: bolt.agent.identity.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const object = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { packageId } = await acme.agent.send({ object, policy, to: bolt.agent.identity, skill: SKILL })
  await page.goto(addressOf(acme, `/packages/${packageId}`))
  await page.getByText('Revoke…').click()
  await page.getByLabel('Detail').fill('A newer one follows.')
  await page.getByRole('button', { name: 'Revoke now' }).click()
  await page.getByText('The package is revoked.').waitFor()
  await assert.rejects(bolt.agent.open(object.id), { code: 'content_unavailable' })
})

test('the desk shows a new draft and a new event without a reload', async () => {
  const { acme, bolt } = trial
  await using watched = await trial.signedIn(acme)
  const { page } = watched
  await page.evaluate("document.body.dataset.loaded = 'once'")
  const draft = await guardedDraft(acme, bolt)
  await page.locator(`a[href="/drafts/${draft.draftId}"]`).first().waitFor()
  const { threadId } = await bolt.agent.drafts
    .create(await plain(bolt, acme))
    .then(({ draftId }) => bolt.agent.drafts.send(draftId))
  await page.locator(`a[href="/threads/${threadId}"]`).first().waitFor()
  await acme.agent.drafts.discard(draft.draftId)
  await page.locator(`a[href="/drafts/${draft.draftId}"]`).waitFor({ state: 'detached' })
  assert.equal(await page.evaluate('document.body.dataset.loaded'), 'once')
  assertQuiet(watched)
  // A browser that is not signed in gets no stream.
  const { status } = await fetch(addressOf(acme, '/events'))
  assert.equal(status, 401)
})

test('[POL-03] an answer at the desk is made under the default policy of the folder, and waits all the same', async () => {
  const { acme, bolt } = trial
  const { packageId } = await bolt.agent.drafts
    .create(await plain(bolt, acme))
    .then(({ draftId }) => bolt.agent.drafts.send(draftId))
  await acme.agent.open(packageId)
  const terms = { by: acme.agent.identity, to: bolt.agent.identity.organizationId, now: new Date() }
  const policy = {
    ...newObject('policy_envelope', { ...terms, policyId: 'pol_folder' }),
    purpose: 'weekly alignment',
  }
  const { settings } = acme.agent.folder.files
  await setAgentDefaults(settings, { policy })
  await using watched = await trial.signedIn(acme, `/packages/${packageId}/answer/free`)
  const { page } = watched
  await page.getByLabel('Response summary').fill('Agreed.')
  await page.getByLabel('Agree', { exact: true }).check()
  await page.getByRole('button', { name: 'Make the draft' }).click()
  await page.getByText('The answer is a draft.').waitFor()
  const draft = (await acme.agent.drafts.list()).find(({ respondsTo }) => respondsTo === packageId)
  assert.deepEqual(draft?.policy, policy)
  assert.deepEqual([draft?.state, policy.human_approval.required], ['waiting', false])
  await acme.agent.drafts.discard(draft?.draftId ?? '')
  rmSync(settings)
})

test('pages read the same without script', async () => {
  const { acme, bolt } = trial
  const draft = await guardedDraft(acme, bolt)
  await using watched = await trial.signedIn(acme, '/', {
    javaScriptEnabled: false,
    viewport: { width: 360, height: 800 },
  })
  const { page } = watched
  await page.getByRole('link', { name: 'Reasoning package' }).first().click()
  assert.ok(await page.getByText('Rails for two seat variants').first().isVisible())
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  await acme.agent.drafts.discard(draft.draftId)
})

test('the pages are accessible on a phone and a laptop, light and dark', async () => {
  const { acme, bolt } = trial
  const { threadId, packageId } = await bolt.agent.drafts
    .create({ ...(await plain(bolt, acme)) })
    .then(({ draftId }) => bolt.agent.drafts.send(draftId))
  await acme.agent.open(packageId)
  const draft = await guardedDraft(acme, bolt)
  await checkDeskPage(acme, 'overview', '/')
  await checkDeskPage(acme, 'thread', `/threads/${threadId}`)
  await checkDeskPage(acme, 'package', `/packages/${packageId}`)
  await checkDeskPage(acme, 'draft', `/drafts/${draft.draftId}`)
  await checkDeskPage(acme, 'drafts', '/drafts')
  const skill = { id: 'skill_unlisted', version: '1.0.0' }
  const failing = await guardedDraft(acme, bolt, 'This one cannot be sent.', { skill })
  await checkDeskPage(acme, 'draft-failing', `/drafts/${failing.draftId}`)
  await acme.agent.drafts.discard(failing.draftId)
  const [sent] = await acme.agent.drafts.sent()
  await checkDeskPage(acme, 'draft-sent', `/drafts/${sent?.draftId}`)
  await checkDeskPage(acme, 'answer', `/packages/${packageId}/answer/free`)
  await checkDeskPage(acme, 'evidence', `/evidence/${threadId}`)
  await acme.agent.drafts.discard(draft.draftId)
})

async function plain({ agent }: DeskSide, to: DeskSide) {
  const terms = { by: agent.identity, to: to.agent.identity.organizationId, now: new Date() }
  const policy = newObject('policy_envelope', terms)
  const fresh = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { facts, reasoning, business_context, intent, confidence } = exampleObjects.reasoning_package
  const object = { ...fresh, facts, reasoning, business_context, intent, confidence }
  return { object, policy, to: to.agent.identity, skill: SKILL }
}
