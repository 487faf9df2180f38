import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ThreadEvidence } from '@agent-exchange/protocol'
import { assertSuccess, organizations, sendPackage, startWorld } from '@agent-exchange/testkit'

const COPIES = 200
const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('[AUD-01][O-07] a page of a deep thread ends when it is large enough, and the cursor leads to the rest', async () => {
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  const { thread_id: threadId } = (await sendPackage(seats, cars)).metadata
  const [record] = await world.sql<{ length: string }[]>`
    select last_position - first_position + 1 as length from audit_record where thread_id = ${threadId}`
  const length = Number(record?.length)
  await world.sql`
    insert into audit_record (thread_id, first_position, last_position, package_id, sender_org_id, recipient_org_id,
      policy_receipt_id, entries, log_batch_id, log_offset, chain_position)
    select thread_id, first_position + n * ${length}::int, last_position + n * ${length}::int, package_id,
      sender_org_id, recipient_org_id, policy_receipt_id, entries, log_batch_id, log_offset, chain_position
    from audit_record, generate_series(1, ${COPIES}::int) as n where thread_id = ${threadId}`
  const pages: ThreadEvidence[] = []
  for (let cursor = ''; pages.length < 100;) {
    const answer = await seats.get(`/v1/audit/threads/${threadId}?limit=1000${cursor}`)
    assertSuccess(answer, 'getThreadAuditEvidence')
    const page = answer.body as unknown as ThreadEvidence
    pages.push(page)
    if (page.next_cursor === null) break
    cursor = `&after=${page.next_cursor}`
  }
  const positions = pages.flatMap(({ entries }) => entries.map(({ position }) => position))
  assert.deepEqual(
    positions,
    Array.from({ length: (COPIES + 1) * length }, (_, index) => index + 1),
  )
  assert.ok(pages.length > 1 && pages.length < 10, `${pages.length} pages`)
})
