import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import {
  approveConnector,
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  sendPackage,
  startWorld,
  submit,
  submitPackage,
  type Organization,
  type PackageDraft,
} from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { removeExpired } from '../retention/retention.ts'

const STORED_BYTES = 20_000
const quotas = { 'O-13': { unused_policy_receipts: 4, stored_bytes: STORED_BYTES } }
const world = await startWorld({ profile: quotas })
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})

const usageOf = async ({ organizationId }: Organization) => {
  const [row] = await world.sql<{ agents: string; policy_receipts: string; stored_bytes: string }[]>`
    select agents, policy_receipts, stored_bytes from organization_usage where organization_id = ${organizationId}`
  return {
    agents: Number(row?.agents),
    receipts: Number(row?.policy_receipts),
    bytes: Number(row?.stored_bytes),
  }
}
const storedFor = async ({ organizationId }: Organization) => {
  const [row] = await world.sql<{ bytes: string }[]>`
    select coalesce(sum(octet_length(before) + octet_length(payload) + octet_length(after)), 0) as bytes
    from package_content join package using (package_id) where sender_org_id = ${organizationId}`
  return Number(row?.bytes)
}
const postReceipt = (by: Organization, { receipt }: PackageDraft) => by.post('/v1/policy-receipts', receipt)
const NO_RECEIPTS = { quota: 'unused_policy_receipts', maximum: 4 }
const NO_BYTES = { quota: 'stored_bytes', maximum: STORED_BYTES }

test('[POL-01][O-13][ERR-03] policy receipts without a package have a quota; a package gives its place back', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  const draft = () => draftPackage(from, to)
  const [first, second, fifth] = [await draft(), await draft(), await draft()]
  for (const each of [first, second, await draft(), await draft()])
    assertSuccess(await postReceipt(from, each), 'createPolicyReceipt')
  assertProblem(await postReceipt(from, fifth), 'quota_reached', NO_RECEIPTS)
  assert.equal((await usageOf(from)).receipts, 4)
  // Another organization has its own.
  assertSuccess(await postReceipt(to, await draftPackage(to, from)), 'createPolicyReceipt')
  assertSuccess(await submitPackage(from, first), 'createPackageTransfer')
  assert.equal((await usageOf(from)).receipts, 3)
  assertSuccess(await postReceipt(from, fifth), 'createPolicyReceipt')
  // What is refused costs nothing.
  assertProblem(await postReceipt(from, second), 'quota_reached')
  assertSuccess(await submitPackage(from, second), 'createPackageTransfer')
  assertProblem(await postReceipt(from, first), 'identifier_conflict')
  assert.equal((await usageOf(from)).receipts, 3)
})

test('[O-13] of policy receipts that arrive together no more pass than the quota has room for', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  const drafts = await Promise.all(Array.from({ length: 12 }, () => draftPackage(from, to)))
  const answers = await Promise.all(drafts.map((draft) => postReceipt(from, draft)))
  const accepted = answers.filter(({ status }) => status === 201).length
  // Exact, since a second batch runs beside the first only when it is full.
  assert.deepEqual([accepted, (await usageOf(from)).receipts], [4, 4])
})

test('[PKG-04][O-13][O-18] stored bytes have a quota, charged to the sender; retention gives them back', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  const large = { plaintext: Buffer.alloc(6_000, 7) }
  await sendPackage(from, to, large)
  await sendPackage(from, to, large)
  const used = await usageOf(from)
  assert.equal(used.bytes, await storedFor(from))
  assert.ok(used.bytes > 12_000)
  const draft = await draftPackage(from, to, large)
  const receipts = used.receipts
  assertProblem(await submit(from, draft), 'quota_reached', NO_BYTES)
  assert.deepEqual(await usageOf(from), { ...used, receipts: receipts + 1 })
  await sendPackage(to, from)
  assert.equal((await usageOf(to)).bytes, await storedFor(to))
  const created = createProfile(quotas)
  assert.ok(created.ok)
  world.clock.advance(40 * 86_400)
  assert.equal((await removeExpired(db, created.profile, world.clock.now()))['contents'], 3 + 2)
  assert.deepEqual([(await usageOf(from)).bytes, (await usageOf(to)).bytes], [0, 0])
  await sendPackage(from, to, large)
  assert.equal((await usageOf(from)).bytes, await storedFor(from))
})

test('[PKG-03][O-13] a ds_x package stores no content, and so counts none', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  const connectorId = await approveConnector(from)
  await approveConnector(to)
  await sendPackage(from, to, { dsx: { connectorId } })
  assert.deepEqual(await usageOf(from), { agents: 1, receipts: 0, bytes: 0 })
})

test('[O-13] what is counted equals what is there, after many packages at once', async () => {
  const wide = await startWorld()
  await using _ = wide
  const [from, to] = await organizations(wide, 'from', 'to')
  const drafts = await Promise.all(Array.from({ length: 40 }, () => draftPackage(from, to)))
  await Promise.all(
    drafts.map((draft, index) => (index % 4 ? submit(from, draft) : postReceipt(from, draft))),
  )
  const [row] = await wide.sql`
    select policy_receipts::int as receipts, stored_bytes::int as bytes, (
      select sum(octet_length(before) + octet_length(payload) + octet_length(after)) from package_content)::int as stored
    from organization_usage where organization_id = ${from.organizationId}`
  assert.equal(row?.['receipts'], 10)
  assert.equal(row?.['bytes'], row?.['stored'])
})
