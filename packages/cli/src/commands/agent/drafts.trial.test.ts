import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { newObject } from '@agent-exchange/sdk/internal'
import { approveDraft } from '@agent-exchange/sdk/internal/node'
import { connectFolder } from '@agent-exchange/sdk/node'
import { startWorld } from '@agent-exchange/testkit'
import { aexHere, succeeds } from '../../aex-here.fixture.ts'
import { madeAgent, temporaryFolder } from './agents.fixture.ts'

const PASSPHRASE = 'correct horse battery staple'

test('[POL-03] a draft is made at the command line, waits for a person, and is sent after the approval', async () => {
  await using world = await startWorld()
  using folder = temporaryFolder()
  const acme = await madeAgent(world, 'acme', folder.path('acme'))
  const bolt = await madeAgent(world, 'bolt', folder.path('bolt'))
  const [secret, short, policyFile, objectFile] = ['secret', 'short', 'policy.json', 'object.json'].map(
    folder.path,
  )
  writeFileSync(String(secret), `${PASSPHRASE}\n`)
  writeFileSync(String(short), 'short\n')
  const terms = { by: { organizationId: 'org_acme', agentId: 'agent_acme' }, to: 'org_bolt', now: new Date() }
  const human_approval = { required: true, approval_id: 'approval_1' }
  const policy = { ...newObject('policy_envelope', terms), human_approval }
  writeFileSync(String(policyFile), JSON.stringify(policy))
  writeFileSync(
    String(objectFile),
    JSON.stringify(newObject('reasoning_package', { ...terms, policyId: policy.policy_id })),
  )

  const init = ['agent', 'approver', 'init', '--dir', acme, '--new-passphrase-file']
  assert.match((await aexHere('agent', 'approver', 'show', '--dir', acme)).stderr, /no approver/u)
  assert.match((await aexHere(...init, String(short))).stderr, /at least 12 characters/u)
  await succeeds(...init, String(secret))
  assert.match((await aexHere(...init, String(secret))).stderr, /approver_exists/u)
  assert.match((await aexHere('agent', 'approver', 'init', '--dir', bolt)).stderr, /typed at a terminal/u)

  const typed = [
    'agent',
    'send',
    String(objectFile),
    '--policy',
    String(policyFile),
    '--approve',
    'approval_1',
  ]
  assert.match(
    (await aexHere(...typed, '--to', 'agent_bolt', '--dir', acme)).stderr,
    /this folder has an approver/u,
  )

  const other = folder.path('other-purpose.json')
  const wrong = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const policy_envelope = { ...wrong.policy_envelope, purpose: 'another purpose' }
  writeFileSync(other, JSON.stringify({ ...wrong, policy_envelope }))
  const refused = [
    'draft',
    'create',
    other,
    '--policy',
    String(policyFile),
    '--to',
    'agent_bolt',
    '--dir',
    acme,
  ]
  const failing = await succeeds('agent', ...refused)
  assert.match(failing, /object_schema +FAILED\n +\/object\/policy_envelope\/purpose/u)
  assert.equal(failing.match(/not evaluated/gu)?.length, 4)
  assert.match(failing, /It cannot be sent\. .*\n  discard  .*aex agent draft discard draft_/u)
  assert.doesNotMatch(failing, /  approve  /u)

  const create = ['draft', 'create', String(objectFile), '--policy', String(policyFile), '--to', 'agent_bolt']
  const made = JSON.parse(await succeeds('agent', ...create, '--dir', acme, '--json')) as {
    draft_id: string
    digest: string
    state: string
    passed: boolean
  }
  assert.deepEqual([made.state, made.passed], ['waiting', true])
  const send = ['agent', 'draft', 'send', made.draft_id, '--dir', acme]
  assert.match((await aexHere(...send)).stderr, /approval_waiting/u)
  assert.match(await succeeds('agent', 'draft', 'list', '--dir', acme), /waiting/u)
  await approveDraft({
    folder: acme,
    draftId: made.draft_id,
    digest: made.digest,
    decision: 'approved',
    passphrase: PASSPHRASE,
    name: 'Ada Example',
    reason: 'Checked.',
  })
  const { package_id } = JSON.parse(await succeeds(...send, '--json')) as { package_id: string }
  await using recipient = await connectFolder(bolt)
  const { policyReceipt } = await recipient.open(package_id)
  assert.match(policyReceipt.receipt.human_approval.approval_reference ?? '', /^approval_[0-9a-f]{32}$/u)
  assert.match(
    (await aexHere('agent', 'draft', 'discard', made.draft_id, '--dir', acme)).stderr,
    /draft_sent/u,
  )
})
