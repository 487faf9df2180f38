import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { newObject } from '@agent-exchange/sdk/internal'
import { assertQuiet } from '@agent-exchange/testkit/browser'
import { connectByStdio } from '../../mcp/src/aex-mcp.fixture.ts'
import { reasoning, type Drafted } from '../../mcp/src/story.fixture.ts'
import {
  addressOf,
  fillDecision,
  startDeskTrial,
  type DeskTrial,
} from '../../desk/browser/desk-trial.fixture.ts'

interface Sent {
  readonly status: string
  readonly package_id?: string
  readonly desk_url?: string
  readonly next_step?: string
}

const SUMMARY = 'Rails are short in week 12.'

let trial: DeskTrial
before(async () => {
  trial = await startDeskTrial()
  const { agent, folder } = trial.acme
  const terms = { by: agent.identity, to: trial.bolt.agent.identity.organizationId, now: new Date() }
  const human_approval = { required: true, approval_id: 'approval_desk' }
  const policy = { ...newObject('policy_envelope', { ...terms, policyId: 'pol_guarded' }), human_approval }
  mkdirSync(join(folder, 'policies'))
  writeFileSync(join(folder, 'policies', 'guarded.json'), JSON.stringify(policy), { mode: 0o600 })
})
after(() => trial?.[Symbol.asyncDispose]())

/** A language model's client: the official SDK, which starts `aex agent mcp` as a process of its own. */
async function startModel() {
  const mcp = await connectByStdio(trial.acme.folder, 'auto')
  return {
    draft: () =>
      mcp.result<Drafted>('draft_package', {
        to: trial.bolt.agent.identity.agentId,
        object_type: 'reasoning_package',
        policy_id: 'pol_guarded',
        content: reasoning(SUMMARY),
      }),
    send: (draft_id: string) => mcp.result<Sent>('send_draft', { draft_id }),
    failureOfSend: (draft_id: string) => mcp.failure('send_draft', { draft_id }),
    printed: mcp.errors,
    [Symbol.asyncDispose]: () => mcp[Symbol.asyncDispose](),
  }
}

test('[POL-03] a model drafts, a person approves at the desk, the model sends, and the recipient verifies', async () => {
  const { acme, bolt } = trial
  await using model = await startModel()
  const { draft_id, package_id } = await model.draft()
  const waiting = await model.send(draft_id)
  assert.deepEqual(waiting, {
    status: 'waiting_for_person',
    draft_id,
    desk_url: addressOf(acme, `/drafts/${draft_id}`),
  })

  // The address that the model passes on gives no access by itself.
  await using stranger = await trial.browser.open(waiting.desk_url ?? '')
  await stranger.page.getByText('Open the link that').waitFor()
  assert.equal(await stranger.page.getByText(SUMMARY).count(), 0)

  await using watched = await trial.signedIn(acme)
  const { page } = watched
  await page.goto(waiting.desk_url ?? '')
  await page.getByText(SUMMARY).first().waitFor()
  assert.equal(await page.getByText('passed', { exact: true }).count(), 5)
  await fillDecision(page)
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByText('Approved. The draft can be sent now').waitFor()
  assertQuiet(watched)

  const sent = await model.send(draft_id)
  assert.deepEqual([sent.status, sent.package_id], ['sent', package_id])
  const { object, policyReceipt } = await bolt.agent.open(package_id)
  assert.ok(object.object_type === 'reasoning_package' && object.reasoning.summary === SUMMARY)
  const [record] = await acme.agent.drafts.sent()
  const { required, outcome, approval_reference } = policyReceipt.receipt.human_approval
  assert.deepEqual([required, outcome], [true, 'approved'])
  assert.equal(approval_reference, record?.decision?.approval_reference)
  const evidence = JSON.stringify(
    await bolt.agent.context.connection.call('getPackageAuditEvidence', { path: { package_id } }),
  )
  assert.ok(evidence.includes('human_approved'))
  assert.ok(!evidence.includes('Ada Example'))
  assert.doesNotMatch(model.printed(), /Ada Example|Rails|link=/u)
})

test('[POL-03] one byte that changes after the approval keeps the model from sending', async () => {
  const { acme } = trial
  await using model = await startModel()
  const { draft_id, package_id } = await model.draft()
  await using watched = await trial.signedIn(acme, `/drafts/${draft_id}`)
  await fillDecision(watched.page)
  await watched.page.getByRole('button', { name: 'Approve' }).click()
  await watched.page.getByText('Approved. The draft can be sent now').waitFor()
  const file = join(acme.agent.folder.files.drafts, `${draft_id}.json`)
  const approved = readFileSync(file, 'utf8')
  writeFileSync(file, approved.replace('week 12', 'week 13'))
  assert.match(await model.failureOfSend(draft_id), /draft_altered/u)
  assert.equal(await acme.agent.outbox.read(package_id), undefined)

  // The approved bytes can still be sent.
  writeFileSync(file, approved)
  assert.equal((await model.send(draft_id)).status, 'sent')
})

// The last one: it ends the desk.
test('without a running desk the model gets the command that starts it', async () => {
  const { acme } = trial
  await using model = await startModel()
  const { draft_id } = await model.draft()
  await acme.desk[Symbol.asyncDispose]()
  assert.equal(existsSync(acme.agent.folder.files.desk), false)
  const waiting = await model.send(draft_id)
  assert.deepEqual([waiting.status, waiting.desk_url], ['waiting_for_person', undefined])
  assert.match(waiting.next_step ?? '', /aex agent desk --dir /u)
})
