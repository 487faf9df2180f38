import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { canonicalize } from '@agent-exchange/crypto'
import type { EvidenceEntry } from '@agent-exchange/protocol'
import { draftPackage, organizations, sendPackage, startWorld, submitPackage } from '@agent-exchange/testkit'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const entriesOf = async (threadId: string) =>
  (await seats.get(`/v1/audit/threads/${threadId}`)).body['entries'] as EvidenceEntry[]

/** Rewrites a receipt in the format of the first release, with the recorded time in the text. */
async function asFirstRelease(policyReceiptId: string, recordedAt: string): Promise<void> {
  await world.sql.begin(async (tx) => {
    await tx`set local session_replication_role = replica`
    await tx`
      update policy_receipt set thread_id = null,
        audit_entries = replace(audit_entries, chr(9), ${JSON.stringify(recordedAt)}::text)
      where policy_receipt_id = ${policyReceiptId}`
    await tx`
      update audit_record set entries = regexp_replace(entries, '("previous_hash":[^,]+),"recorded_at":"[^"]+"(,"hash")', '\\1\\2', 'g')
      where policy_receipt_id = ${policyReceiptId}`
  })
}

test('[AUD-01][AUD-03] a chain of the first release still verifies', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const before = await entriesOf(metadata.thread_id)
  await asFirstRelease(metadata.policy_receipt_id, before[0]?.proof.recorded_at ?? '')
  const [stored] = await world.sql`
    select entries from audit_record where package_id = ${metadata.package_id} order by last_position limit 1`
  assert.match(String(stored?.['entries']), /"previous_hash":null,"hash"/)
  assert.deepEqual(await entriesOf(metadata.thread_id), before)
})

test('[AUD-01][O-43] a receipt of the first release is recorded in the chain at the time of its package', async () => {
  const draft = await draftPackage(seats, cars)
  const policy = await seats.post('/v1/policy-receipts', draft.receipt)
  await asFirstRelease(draft.metadata.policy_receipt_id, String(policy.body['accepted_at']))
  world.clock.advance(60)
  assert.equal((await submitPackage(seats, draft)).status, 202)
  const entries = await entriesOf(draft.metadata.thread_id)
  assert.equal(entries.length, 4)
  assert.equal(new Set(entries.map(({ proof }) => proof.recorded_at)).size, 1)
  for (const entry of entries) {
    const { hash, ...proof } = entry.proof
    const text = canonicalize({ ...entry, proof })
    assert.equal(hash, createHash('sha256').update(text).digest('hex'))
  }
})
