import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertSuccess,
  countBlocked,
  freshId,
  organizations,
  sendPackage,
  startWorld,
  untilBlocked,
  type Answer,
} from '@agent-exchange/testkit'

const world = await startWorld({
  profile: { 'O-13': { concurrent_reads: 2, concurrent_reads_in_all: 4 } },
})
after(() => world[Symbol.asyncDispose]())
const [hostile, other] = await organizations(world, 'hostile', 'other')
const threadId = freshId('thread')
for (let sent = 0; sent < 3; sent++) await sendPackage(hostile, other, { threadId })

test('[O-13] reads of one organization that all wait for the database leave places for the others', async () => {
  const read = (organization: typeof hostile) => organization.get(`/v1/audit/threads/${threadId}`)
  const pending: Promise<Answer>[] = []
  await world.sql.begin(async (tx) => {
    // Every read of evidence waits for this lock.
    await tx`lock table audit_record in access exclusive mode`
    pending.push(...Array.from({ length: 8 }, () => read(hostile)))
    await untilBlocked(world, 2)
    pending.push(read(other))
    await untilBlocked(world, 3)
    // Other reads of the same organization need no place.
    assertSuccess(await hostile.get(`/v1/agents/${hostile.agentId}`), 'getAgent')
    assert.equal(await countBlocked(world), 3, 'the fourth place is not for the organization that has two')
  })
  for (const answer of await Promise.all(pending)) assertSuccess(answer, 'getThreadAuditEvidence')
})
