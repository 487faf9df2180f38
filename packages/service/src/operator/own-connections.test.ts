import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addKey, assertSuccess, revokeKey, startWorld, untilBlocked } from '@agent-exchange/testkit'
import { withinTime } from '@agent-exchange/server/within-time'

/** Of the agent API: a quarter of its connections for statements, half for transactions. */
const STATEMENTS = 5
const TRANSACTIONS = 10
const PATIENCE_MS = 5_000

test('an operator reads and suspends while agents occupy every connection of the agent API', async () => {
  const roomy = { concurrent_changes_in_all: 64, concurrent_reads: 64, concurrent_reads_in_all: 64 }
  await using world = await startWorld({ profile: { 'O-13': roomy } })
  const names = ['one', 'two', 'three']
  const organizations = await Promise.all(names.map((name) => world.organization(name)))
  const keys = await Promise.all(
    organizations.flatMap((owner) =>
      Array.from({ length: 4 }, async () => ({ owner, ...(await addKey(owner, 'signing')) })),
    ),
  )
  const other = await world.organization('other')
  const pending: Promise<void>[] = []
  await world.sql.begin(async (tx) => {
    // Each of these requests waits for a lock with its connection.
    await tx`lock table agent_key_event in share mode`
    await tx`lock table skill_release in access exclusive mode`
    for (const { owner, keyId } of keys)
      pending.push(
        revokeKey(owner, keyId, world.clock.now()).then((answer) => assertSuccess(answer, 'revokeAgentKey')),
      )
    for (let i = 0; i < 2 * STATEMENTS; i++)
      for (const owner of organizations)
        pending.push(owner.get('/v1/skills').then((answer) => assertSuccess(answer, 'listSkillReleases')))
    await untilBlocked(world, STATEMENTS + TRANSACTIONS)
    const suspend = `/organizations/${other.organizationId}/suspend`
    const operated = async () => [
      (await world.operate('GET', '/organizations')).status,
      (await world.operate('POST', suspend, { reason: 'Test' })).status,
    ]
    const statuses: number[] = []
    await withinTime(
      operated().then((all) => statuses.push(...all)),
      PATIENCE_MS,
    )
    assert.deepEqual(statuses, [200, 200])
  })
  await Promise.all(pending)
})
