import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  movableClock,
  organizations,
  sendPackage,
  startWorld,
  submit,
  submitPackage,
  untilBlocked,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld({ clock: movableClock('2026-03-02T08:00:00.000Z') })
const replica = await startWorld({ beside: world })
after(async () => {
  await replica[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const setQuotas = async (of: Organization, quotas: object) => {
  const answer = await world.operate('POST', `/organizations/${of.organizationId}/quotas`, quotas)
  assert.equal(answer.status, 200)
  return answer.body as Record<'packages_per_day' | 'threads_per_day', object>
}
const send = async (from: Organization, to: Organization, threadId?: string) =>
  submit(from, await draftPackage(from, to, threadId === undefined ? {} : { threadId }))
const reached = (quota: string, maximum: number) => ({ quota, maximum })

test('[O-13] a quota of packages a day is exact over processes and batches, and ends with the UTC day', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  // It counts from the start of the day, not from when it is set.
  await sendPackage(from, to)
  const shown = await setQuotas(from, { packages_per_day: 5 })
  assert.deepEqual(shown.packages_per_day, { used: 1, maximum: 5, is_default: false })
  const drafts = await Promise.all(Array.from({ length: 24 }, () => draftPackage(from, to)))
  for (const { receipt } of drafts) await from.post('/v1/policy-receipts', receipt)
  const answers = await Promise.all(
    drafts.map((draft, index) => submitPackage(from, draft, { at: index % 2 ? world.url : replica.url })),
  )
  assert.equal(answers.filter(({ status }) => status === 202).length, 4)
  for (const answer of answers.filter(({ status }) => status !== 202))
    assertProblem(answer, 'quota_reached', reached('packages_per_day', 5))
  world.clock.set('2026-03-02T23:59:59.000Z')
  assertProblem(await send(from, to), 'quota_reached', reached('packages_per_day', 5))
  world.clock.set('2026-03-03T00:00:00.000Z')
  assertSuccess(await send(from, to), 'createPackageTransfer')
  assert.deepEqual((await setQuotas(from, { packages_per_day: 0 })).packages_per_day, {
    used: 1,
    maximum: 0,
    is_default: false,
  })
  assertProblem(await send(from, to), 'quota_reached', reached('packages_per_day', 0))
  await setQuotas(from, { packages_per_day: 'unlimited' })
  assertSuccess(await send(from, to), 'createPackageTransfer')
})

test('[O-13] a submission waits for another one of the same sender, and decides on what that one counted', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  await setQuotas(from, { packages_per_day: 3 })
  await sendPackage(from, to)
  const draft = await draftPackage(from, to)
  await from.post('/v1/policy-receipts', draft.receipt)
  const { organizationId } = from
  let waiting: ReturnType<typeof submitPackage> | undefined
  await world.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended('quota of a day ' || ${organizationId}, 0))`
    waiting = submitPackage(from, draft)
    await untilBlocked({ sql: tx }, 1)
    await tx`update organization_usage set packages_of_day = 3 where organization_id = ${organizationId}`
  })
  assert.ok(waiting)
  assertProblem(await waiting, 'quota_reached', reached('packages_per_day', 3))
})

test('[O-13][PKG-09] threads have their own quota; responses neither count nor are refused', async () => {
  const [from, to] = await organizations(world, 'from', 'to')
  await setQuotas(from, { threads_per_day: 1 })
  const { metadata } = await sendPackage(from, to)
  assertProblem(await send(from, to), 'quota_reached', reached('threads_per_day', 1))
  assertSuccess(await send(from, to, metadata.thread_id), 'createPackageTransfer')
  const asked = (await sendPackage(to, from)).metadata
  await setQuotas(from, { packages_per_day: 2 })
  const response = await draftPackage(from, to, {
    threadId: asked.thread_id,
    respondsTo: asked.package_id,
  })
  assertSuccess(await submit(from, response), 'createPackageResponse')
  const { body } = await world.operate('GET', `/organizations/${from.organizationId}/consent`)
  assert.deepEqual(body['packages_per_day'], { used: 2, maximum: 2, is_default: false })
  assert.deepEqual(body['threads_per_day'], { used: 1, maximum: 1, is_default: false })
})

test('[O-13] the profile sets quotas for all, and an operator another one for an organization', async () => {
  const clock = movableClock('2026-03-02T08:00:00.000Z')
  await using limited = await startWorld({ clock, profile: { 'O-13': { packages_per_day: 1 } } })
  const [from, to] = await organizations(limited, 'from', 'to')
  assertSuccess(await send(from, to), 'createPackageTransfer')
  assertProblem(await send(from, to), 'quota_reached', reached('packages_per_day', 1))
  const path = `/organizations/${from.organizationId}/quotas`
  const raised = await limited.operate('POST', path, { packages_per_day: 2, reason: 'contract 7' })
  assert.deepEqual(raised.body['packages_per_day'], { used: 1, maximum: 2, is_default: false })
  assertSuccess(await send(from, to), 'createPackageTransfer')
  const back = await limited.operate('POST', path, { packages_per_day: 'default' })
  assert.deepEqual(back.body['packages_per_day'], { used: 2, maximum: 1, is_default: true })
  assertProblem(await send(from, to), 'quota_reached', reached('packages_per_day', 1))
  for (const body of [{}, { packages_per_day: -1 }, { threads_per_day: 'many' }])
    assert.equal((await limited.operate('POST', path, body)).status, 422)
})
