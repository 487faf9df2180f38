import { createHash } from 'node:crypto'
import { canonicalize, signDetached, type SigningKey } from '@agent-exchange/crypto'
import type { PackageMetadata, PolicyReceipt } from '@agent-exchange/protocol'
import type postgres from 'postgres'
import { freshId } from '../load/package-parts.ts'
import { resourceOf, type CheckedPackage } from './checked-package.ts'
import type { KnownCaller } from './token-cache.ts'

export interface NaiveRequest {
  readonly caller: KnownCaller
  readonly checked: CheckedPackage
  readonly idempotencyKey: string
  readonly correlationId: string
  readonly base: string
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()

/** Stores a policy receipt with the audit entries of its package. */
export async function storeReceipt(db: postgres.Sql, body: string): Promise<void> {
  const receipt = JSON.parse(body) as PolicyReceipt
  const now = new Date().toISOString()
  const entries = ['policy_evaluated', 'human_approved'].map((type): Entry => ({
    event: auditEvent(type, receipt, now),
    proof: { kind: 'policy_receipt_accepted', policy_receipt: receipt, recorded_at: now },
  }))
  await db`
    insert into policy_receipt (policy_receipt_id, package_id, sender_org_id, recipient_org_id, body, accepted_at,
      eligible, audit_event_id, audit_entries, signing_key_id)
    values (${receipt.policy_receipt_id}, ${receipt.package_id}, ${receipt.sender_org_id},
      ${receipt.recipient_org_id}, ${body}, ${now}, ${receipt.checks.every(({ outcome }) => outcome === 'passed')},
      ${entries[0]?.event.id ?? ''}, ${JSON.stringify(entries)}, ${receipt.signature.key_id})`
}

/**
 * One transaction per package, one statement after another, with the same rows, checks and signed acceptance as the
 * service.
 */
export function packageStore(db: postgres.Sql, platform: SigningKey) {
  return (request: NaiveRequest): Promise<string> =>
    db.begin(async (tx) => {
      const { caller, checked, idempotencyKey, correlationId, base } = request
      const { metadata } = checked
      const now = new Date().toISOString()
      const keyHash = sha256(idempotencyKey)
      await requireActive(tx, caller)
      const [record] = await tx<{ body: string }[]>`
        select body from idempotency_record where organization_id = ${caller.organizationId}
          and scope = 'createPackageTransfer' and key_hash = ${keyHash}`
      if (record) return record.body
      const receipt = await requireAllowed(tx, checked)
      await insertPackage(tx, checked, { now, correlationId })
      const accepted = {
        package_id: metadata.package_id,
        content_digest: metadata.content_digest,
        accepted_at: now,
      }
      const acceptance = {
        ...accepted,
        signature: await signDetached(accepted, { ...platform, member: 'signature' }),
      }
      const entries = JSON.parse(receipt.audit_entries) as Entry[]
      const created = auditEvent('package_created', metadata, now)
      const sent = auditEvent('package_sent', metadata, now)
      await appendAudit(tx, metadata, now, [
        ...entries,
        { event: created, proof: { kind: 'package_accepted', ...accepted, acceptance } },
        { event: sent, proof: { kind: 'package_accepted', ...accepted } },
      ])
      await notify(tx, metadata, { now, correlationId })
      const body = JSON.stringify(resourceOf(metadata, now, base))
      await tx`
        insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
        values (${caller.organizationId}, 'createPackageTransfer', ${keyHash},
          ${createHash('sha256').update(checked.bytes).digest()}, 202, ${body}, ${now})`
      return body
    })
}

async function requireActive(
  tx: postgres.TransactionSql,
  { organizationId, clientId }: KnownCaller,
): Promise<void> {
  const [organization] = await tx<{ status: string }[]>`
    select status from organization where organization_id = ${organizationId}`
  const [client] = await tx<
    { status: string }[]
  >`select status from oauth_client where client_id = ${clientId}`
  if (organization?.status !== 'active' || client?.status !== 'active') throw new Error('suspended')
}

async function requireAllowed(
  tx: postgres.TransactionSql,
  { metadata, signingKeyId, recipientKeyIds }: CheckedPackage,
) {
  const agents = [metadata.sender_agent_id, metadata.recipient_agent_id]
  const keyIds = [signingKeyId, ...recipientKeyIds]
  for (const [i, keyId] of keyIds.entries()) {
    const [key] = await tx<{ status: string }[]>`
      select status from agent_key where agent_id = ${agents[i === 2 ? 1 : 0] ?? ''} and key_id = ${keyId} for share`
    if (key?.status !== 'active') throw new Error(`key ${keyId} is not active`)
  }
  const [receipt] = await tx<{ body: string; eligible: boolean; audit_entries: string }[]>`
    select body, eligible, audit_entries from policy_receipt where policy_receipt_id = ${metadata.policy_receipt_id}`
  if (!receipt?.eligible) throw new Error('no eligible policy receipt')
  const claimed = JSON.parse(receipt.body) as Record<string, unknown>
  if (claimed['content_digest'] !== metadata.content_digest) throw new Error('another content')
  for (const agentId of agents) {
    const [agent] = await tx<{ status: string; modes: string[] }[]>`
      select status, transport_modes as modes from agent where agent_id = ${agentId}`
    if (agent?.status !== 'active' || !agent.modes.includes('native')) throw new Error('agent not capable')
  }
  for (const organizationId of [metadata.sender_org_id, metadata.recipient_org_id]) {
    await tx`select connector_id from connector_connection
             where organization_id = ${organizationId} and status = 'approved'`
  }
  const [former] = await tx`select package_id from package where package_id = ${metadata.package_id}`
  if (former) throw new Error('a package of that name exists')
  return receipt
}

interface Moment {
  readonly now: string
  readonly correlationId: string
}

async function insertPackage(
  tx: postgres.TransactionSql,
  checked: CheckedPackage,
  { now, correlationId }: Moment,
) {
  const { metadata, bytes, signingKeyId } = checked
  const { thread_id: threadId } = metadata
  const { sender_org_id: sender, recipient_org_id: recipient } = metadata
  const pairs = [`${sender} ${recipient}`, `${recipient} ${sender}`]
  await tx`
    insert into thread (thread_id, transport_mode, protocol_version, created_at, pairs)
    values (${threadId}, 'native', ${metadata.protocol_version}, ${now}, ${pairs})`
  await tx`
    insert into package (package_id, thread_id, thread_position, sender_org_id, sender_agent_id, recipient_org_id,
      recipient_agent_id, transport_mode, state, metadata, content_digest, digest_rule, signing_key_id,
      policy_receipt_id, created_at, expires_at, accepted_at, updated_at, correlation_id)
    values (${metadata.package_id}, ${threadId}, 1, ${metadata.sender_org_id}, ${metadata.sender_agent_id},
      ${metadata.recipient_org_id}, ${metadata.recipient_agent_id}, 'native', 'encrypted_available',
      ${JSON.stringify(metadata)}, ${metadata.content_digest}, 'jcs-jwe', ${signingKeyId},
      ${metadata.policy_receipt_id}, ${metadata.created_at}, ${metadata.expires_at}, ${now}, ${now}, ${correlationId})`
  await tx`
    insert into package_content (package_id, body) values (${metadata.package_id}, ${Buffer.from(bytes)})`
}

type About = Pick<
  PackageMetadata,
  'sender_org_id' | 'sender_agent_id' | 'protocol_version' | 'thread_id' | 'package_id'
>

function auditEvent(type: string, metadata: About, now: string) {
  const actor = { organization_id: metadata.sender_org_id, agent_id: metadata.sender_agent_id }
  return {
    id: freshId('audit'),
    object_type: 'audit_event',
    protocol_version: metadata.protocol_version,
    schema_version: '1.0.0',
    created_at: now,
    created_by: actor,
    thread_id: metadata.thread_id,
    event_type: type,
    occurred_at: now,
    actor,
    target: { object_id: metadata.package_id, object_type: 'reasoning_package' },
  }
}

interface Entry {
  readonly event: { readonly id: string }
  readonly proof: object
}

async function appendAudit(
  tx: postgres.TransactionSql,
  metadata: PackageMetadata,
  now: string,
  entries: readonly Entry[],
): Promise<void> {
  let previous: string | null = null
  for (const [i, { event, proof }] of entries.entries()) {
    const position = i + 1
    const hash = sha256(canonicalize({ position, event, proof, previous })).toString('hex')
    await tx`
      insert into audit_entry (thread_id, position, package_id, sender_org_id, recipient_org_id, audit_event_id,
        event, proof, previous_hash, hash, recorded_at)
      values (${metadata.thread_id}, ${position}, ${metadata.package_id}, ${metadata.sender_org_id},
        ${metadata.recipient_org_id}, ${event.id}, ${JSON.stringify(event)},
        ${JSON.stringify(proof)}, ${previous}, ${hash}, ${now})`
    previous = hash
  }
  await tx`
    update thread set package_count = 1, audit_count = ${entries.length}, audit_hash = ${previous}
    where thread_id = ${metadata.thread_id}`
}

/** Locks in a fixed order, to avoid deadlocks between two packages of the same parties. */
async function notify(
  tx: postgres.TransactionSql,
  metadata: PackageMetadata,
  { now, correlationId }: Moment,
) {
  const eventId = freshId('evt')
  for (const organizationId of [metadata.sender_org_id, metadata.recipient_org_id].toSorted()) {
    const [stream] = await tx<{ last_sequence: string }[]>`
      select last_sequence from notification_stream where organization_id = ${organizationId} for update`
    const sequence = Number(stream?.last_sequence ?? 0) + 1
    const notificationId = freshId('ntf')
    const body = JSON.stringify({
      notification_id: notificationId,
      event_id: eventId,
      event_type: 'package.accepted',
      protocol_version: metadata.protocol_version,
      sequence,
      occurred_at: now,
      organization_id: organizationId,
      package_id: metadata.package_id,
      thread_id: metadata.thread_id,
      state: 'accepted',
      transport_mode: 'native',
      content_digest: metadata.content_digest,
      correlation_id: correlationId,
    })
    await tx`
      insert into notification
        (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
      values (${organizationId}, ${sequence}, ${notificationId}, ${eventId}, 'package.accepted',
        ${metadata.package_id}, ${body}, ${now})`
    await tx`
      update notification_stream set last_sequence = ${sequence} where organization_id = ${organizationId}`
    const endpoints = await tx<{ webhook_endpoint_id: string }[]>`
      select webhook_endpoint_id from webhook_endpoint
      where organization_id = ${organizationId} and status = 'active'`
    for (const { webhook_endpoint_id } of endpoints) {
      await tx`
        insert into delivery (delivery_id, webhook_endpoint_id, organization_id, notification_id, event_id, state,
          next_attempt_at, created_at)
        values (${freshId('dlv')}, ${webhook_endpoint_id}, ${organizationId}, ${notificationId}, ${eventId},
          'pending', ${now}, ${now})`
    }
  }
}
