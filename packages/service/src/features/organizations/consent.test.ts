import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PackageMetadata } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  secondAgent,
  sendPackage,
  sendReceipt,
  startWorld,
  submit,
  submitPackage,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
const replica = await startWorld({ beside: world })
after(async () => {
  await replica[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})
const ADDRESSES = [world.url, replica.url]

const change = (of: Organization, body: object) =>
  world.operate('POST', `/organizations/${of.organizationId}/consent`, body)
const send = async (from: Organization, to: Organization, at = world.url) => {
  const draft = await draftPackage(from, to)
  assertSuccess(await from.post('/v1/policy-receipts', draft.receipt), 'createPolicyReceipt')
  return submitPackage(from, draft, { at })
}
const respond = async (from: Organization, to: Organization, { thread_id, package_id }: PackageMetadata) =>
  submit(from, await draftPackage(from, to, { threadId: thread_id, respondsTo: package_id }))

/** The problem, and nothing about why. */
async function assertRefused(from: Organization, to: Organization): Promise<void> {
  for (const at of ADDRESSES) assertProblem(await send(from, to, at), 'recipient_not_capable', {})
}

async function assertAccepted(from: Organization, to: Organization): Promise<void> {
  for (const at of ADDRESSES) assertSuccess(await send(from, to, at), 'createPackageTransfer')
}

test('[O-50][ERR-03] a blocked sender is refused by every process at once; what was accepted stays, and others pass', async () => {
  const [to, spam, friend] = await organizations(world, 'to', 'spam', 'friend')
  await assertAccepted(spam, to)
  const draft = await draftPackage(spam, to)
  await spam.post('/v1/policy-receipts', draft.receipt)
  const first = await submitPackage(spam, draft, { idempotencyKey: 'before-the-block' })
  assertSuccess(first, 'createPackageTransfer')
  assert.equal((await change(to, { block: [spam.organizationId], reason: 'floods us' })).status, 200)
  await assertRefused(spam, to)
  await assertAccepted(friend, to)
  await assertAccepted(spam, friend)
  // Accepted before: its record, content and retry are as they were.
  const retry = await submitPackage(spam, draft, { idempotencyKey: 'before-the-block', at: replica.url })
  assert.deepEqual([retry.status, retry.text], [first.status, first.text])
  assert.equal((await to.get(String(first.body['ciphertext_download_url']))).status, 200)
  assertSuccess(await sendReceipt(to, draft.metadata, 'received'), 'createPackageReceipt')
  assert.equal((await change(to, { remove: [spam.organizationId] })).body['blocked'], 0)
  await assertAccepted(spam, to)
  const { body } = await world.operate('GET', `/log?target=${to.organizationId}&action=organization.consent`)
  assert.deepEqual(
    (body['items'] as Record<string, unknown>[]).map(({ details, reason }) => [details, reason]),
    [
      [{ remove: [spam.organizationId] }, null],
      [{ block: [spam.organizationId] }, 'floods us'],
    ],
  )
})

test('[O-50][PKG-09] with a list, only listed senders, its own agents and answers to what it sent pass', async () => {
  const [to, known, stranger] = await organizations(world, 'to', 'known', 'stranger')
  const set = { accepts_from: 'listed', accept: [known.organizationId] }
  assert.equal((await change(to, set)).body['accepts_from'], 'listed')
  await assertAccepted(known, to)
  await assertRefused(stranger, to)
  await assertAccepted(to, await secondAgent(to))
  const { metadata } = await sendPackage(to, stranger)
  assertSuccess(await sendReceipt(stranger, metadata, 'received'), 'createPackageReceipt')
  assertSuccess(await respond(stranger, to, metadata), 'createPackageResponse')
  // The thread is no way around the list.
  const inThread = await draftPackage(stranger, to, { threadId: metadata.thread_id })
  assertProblem(await submit(stranger, inThread), 'recipient_not_capable', {})
  await change(to, { block: [known.organizationId] })
  await assertRefused(known, to)
  await change(to, { accepts_from: 'anyone' })
  await assertRefused(known, to)
  await assertAccepted(stranger, to)
})

test('[O-50] the profile sets what applies to organizations without a choice of their own', async () => {
  await using strict = await startWorld({
    profile: { 'O-50': { accepts_from: 'listed', listed_organizations: 2 } },
  })
  const [to, from, third] = await organizations(strict, 'to', 'from', 'third')
  const path = `/organizations/${to.organizationId}/consent`
  assertProblem(await submit(from, await draftPackage(from, to)), 'recipient_not_capable', {})
  const opened = await strict.operate('POST', path, { accepts_from: 'anyone' })
  assert.deepEqual([opened.body['accepts_from'], opened.body['is_default']], ['anyone', false])
  assertSuccess(await submit(from, await draftPackage(from, to)), 'createPackageTransfer')
  const closed = await strict.operate('POST', path, { accepts_from: 'default' })
  assert.deepEqual([closed.body['accepts_from'], closed.body['is_default']], ['listed', true])
  const accept = [from.organizationId, third.organizationId]
  assert.equal((await strict.operate('POST', path, { accept })).status, 200)
  assertSuccess(await submit(from, await draftPackage(from, to)), 'createPackageTransfer')
  const other = await strict.organization('other')
  const full = await strict.operate('POST', path, { block: [other.organizationId] })
  assert.deepEqual([full.status, full.body['code']], [409, 'quota_reached'])
})

test('[O-50] the operator API explains what it refuses, lists both lists by page, and needs the role operator', async () => {
  const [to, one, two] = await organizations(world, 'to', 'one', 'two')
  for (const [body, pointer] of [
    [{}, ''],
    [{ block: [to.organizationId] }, '/block/0'],
    [{ block: ['org_nobody'] }, '/block/0'],
    [{ accept: [one.organizationId], block: [one.organizationId] }, '/block/0'],
    [{ accepts_from: 'friends' }, '/accepts_from'],
    [{ accept: [] }, '/accept'],
  ] as const) {
    const { status, body: problem } = await change(to, body)
    const { failures } = problem['details'] as { failures: { pointer: string }[] }
    assert.deepEqual([status, failures[0]?.pointer], [422, pointer])
  }
  assert.equal((await change({ ...to, organizationId: 'org_none' }, { block: ['org_x'] })).status, 404)
  assert.equal(
    (await change({ ...to, organizationId: 'org_platform' }, { accepts_from: 'listed' })).status,
    403,
  )
  await change(to, { accept: [one.organizationId], block: [two.organizationId] })
  const path = `/organizations/${to.organizationId}/senders`
  const page = await world.operate('GET', `${path}?limit=1`)
  const rest = await world.operate('GET', `${path}?limit=1&after=${String(page.body['next_cursor'])}`)
  const rows = [page, rest].flatMap(({ body }) => body['items'] as Record<string, unknown>[])
  assert.deepEqual(Object.fromEntries(rows.map(({ sender_org_id, rule }) => [sender_org_id, rule])), {
    [one.organizationId]: 'accept',
    [two.organizationId]: 'block',
  })
  const blocked = await world.operate('GET', `${path}?rule=block`)
  assert.equal((blocked.body['items'] as unknown[]).length, 1)
  const { body } = await world.operate('POST', '/operators', { name: 'reader', role: 'viewer' })
  const asViewer = await fetch(
    `${world.operatorUrl}/operator/v1/organizations/${to.organizationId}/consent`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${String(body['token'])}`, 'content-type': 'application/json' },
      body: JSON.stringify({ accepts_from: 'listed' }),
    },
  )
  assert.equal(asViewer.status, 403)
})
