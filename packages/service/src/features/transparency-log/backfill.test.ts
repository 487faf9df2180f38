import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  leafHash,
  openCheckpoint,
  parseProof,
  parseVerifierKey,
  recordLeaf,
  verifyInclusion,
} from '@agent-exchange/log'
import type { EvidenceEntry, PolicyReceipt } from '@agent-exchange/protocol'
import {
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  type Organization,
  type World,
} from '@agent-exchange/testkit'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

/** The rows as they were before the log existed. */
async function forgetLog({ sql }: World): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`alter table audit_record drop constraint audit_record_is_logged`
    await tx`alter table audit_record disable trigger all`
    await tx`update audit_record set log_batch_id = null, log_offset = null`
    await tx`alter table audit_record enable trigger all`
    await tx`alter table audit_record add constraint audit_record_is_logged
      check (log_batch_id is not null and log_offset is not null) not valid`
    await tx`update package set receipt_signature = null`
    await tx`delete from log_pending`
    await tx`delete from log_key_event`
  })
}

interface Proved {
  readonly first_position: number
  readonly last_position: number
  readonly salt: string
  readonly proof: string
  readonly pending?: true
}

async function proved(by: Organization, path: string, member: string): Promise<Proved[]> {
  for (let tries = 0; tries < 200; tries++) {
    const items = ((await by.get(path)).body[member] ?? []) as Proved[]
    if (items.length > 0 && items.every(({ pending }) => pending !== true)) return items
    await sleep(50)
  }
  throw new Error(`${path} is still pending`)
}

test('[AUD-01] records from before the log become its first leaves, key events before them', async () => {
  await using world = await startWorld({ profile, evidenceVersion: 1 })
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  const { metadata } = await sendPackage(seats, cars)
  await forgetLog(world)
  // The next record of an old package finds the signature in the policy receipt.
  await sendReceipt(cars, metadata, 'received')
  await using sequencing = await startWorld({ profile, config: { role: 'all' }, beside: world })
  assert.ok(sequencing)
  const records = await proved(cars, `/log/records?thread_id=${metadata.thread_id}`, 'records')
  assert.equal(records.length, 2)
  const answer = (await cars.get('/log/key')).body['verifier_keys'] as string[]
  const key = parseVerifierKey(answer[0] ?? '')
  const { receipt } = (await cars.get(`/v1/policy-receipts/${metadata.policy_receipt_id}`)).body as {
    receipt: PolicyReceipt
  }
  const { entries } = (await cars.get(`/v1/audit/threads/${metadata.thread_id}`)).body as {
    entries: EvidenceEntry[]
  }
  const indexes: number[] = []
  for (const record of records) {
    const own = entries.filter(
      ({ position }) => position >= record.first_position && position <= record.last_position,
    )
    const leaf = recordLeaf(
      {
        packageId: metadata.package_id,
        contentDigest: metadata.content_digest,
        receiptSignature: receipt.signature.signature,
        threadId: metadata.thread_id,
        firstPosition: record.first_position,
        lastPosition: record.last_position,
        previousHash: own[0]?.proof['previous_hash'] as string | null,
        entryHashes: own.map(({ proof }) => proof['hash'] ?? ''),
      },
      Buffer.from(record.salt, 'base64url'),
    )
    const { index, hashes, checkpoint } = parseProof(record.proof)
    const { size, root } = await openCheckpoint(checkpoint, [key])
    verifyInclusion({ index, size, root, leafHash: leafHash(leaf), proof: hashes })
    indexes.push(index)
  }
  const events = await proved(cars, `/log/key-events?agent_id=${seats.agentId}`, 'events')
  const lastKey = Math.max(...events.map(({ proof }) => parseProof(proof).index))
  assert.ok(lastKey < Math.min(...indexes))
  assert.ok((indexes[0] ?? 0) < (indexes[1] ?? 0))
  await assert.rejects(
    world.sql`insert into audit_record (thread_id, first_position, last_position, package_id, sender_org_id,
      recipient_org_id, entries) values ('t', 1, 1, 'p', 'a', 'b', '[]')`,
    /audit_record_is_logged/u,
  )
})
