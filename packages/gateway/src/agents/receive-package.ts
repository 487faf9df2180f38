import { deferToCommit, type Transaction } from '@agent-exchange/database'
import { dateOfInstant } from '@agent-exchange/protocol'
import type { OpenedPackage, PackageHandler } from '@agent-exchange/sdk'
import type { ContentStore } from '../content/content-store.ts'
import { shortenRetention } from '../content/open-content-store.ts'
import { keepReceivedPolicy, policyIdOf } from '../content/received-policies.ts'
import { retentionEnd } from '../content/retention.ts'
import { insertItem, type LocalWaiters } from '../inbox/inbox-items.ts'
import { noteDeadline } from '../operations/response-deadlines.ts'
import { sequenceOf } from '../stores/event-rows.ts'
import type { HostedAgent } from './hosted-agent.ts'

export interface ReceivingParts {
  readonly contents: ContentStore
  readonly now: () => Date
  readonly waiters?: LocalWaiters
}

/**
 * What the gateway does with each opened package: content and inbox item are stored in the transaction that marks the
 * event as processed, so a crash in between repeats all of it or nothing.
 */
export function receivePackage(
  hosted: HostedAgent,
  { contents, now, waiters }: ReceivingParts,
): PackageHandler<Transaction> {
  const { agentId } = hosted
  return ({ key, packageId, thread, object, opened }) => {
    const openedAt = now()
    return async (tx) => {
      await storeReceived(tx, { hosted, contents, opened, openedAt })
      const item = {
        agentId,
        packageId,
        threadId: thread.id,
        sequence: sequenceOf(agentId, key),
        contentType: object.object_type,
        receivedAt: openedAt.toISOString(),
      }
      insertItem(tx, item, waiters)
    }
  }
}

interface Received {
  readonly hosted: HostedAgent
  readonly contents: ContentStore
  readonly opened: OpenedPackage
  readonly openedAt: Date
}

/** Stores a received package with where it comes from and what its sender asked for. */
export async function storeReceived(
  tx: Transaction,
  { hosted: { agentId, agent }, contents, opened, openedAt }: Received,
): Promise<void> {
  const { object, metadata, sentBy, writtenBy, senderKey, acceptedAt } = opened
  const { retention_begins: begins } = agent.context.deployment.profile['O-51']
  const accepted = dateOfInstant(acceptedAt) ?? openedAt
  const retentionFrom = { opened: openedAt, accepted }[begins]
  const { responds_to_package_id: respondsTo } = metadata
  const packageId = opened.resource.package_id
  const receivedAt = openedAt.toISOString()
  const received = { agentId, packageId, organizationId: sentBy.organizationId, object }
  const isPolicyKept = await keepReceivedPolicy(tx, received, accepted.toISOString())
  const retentionUntil = retentionEnd(object, retentionFrom)
  const policyId = policyIdOf(object)
  const { organizationId } = received
  const storing = contents.put(tx, {
    agentId,
    packageId,
    threadId: opened.resource.thread_id,
    direction: 'received',
    object,
    provenance: {
      sender: { organization_id: sentBy.organizationId, agent_id: sentBy.agentId },
      written_by: { organization_id: writtenBy.organizationId, agent_id: writtenBy.agentId },
      signed_by_key: senderKey.keyId,
      signing_key_fingerprint: senderKey.fingerprint,
      accepted_at: acceptedAt,
      opened_at: receivedAt,
      log_conflict: opened.logConflict !== undefined,
      receipts_sent: opened.receipts.map(({ state }) => state),
      ...(respondsTo !== undefined && { responds_to: respondsTo }),
      ...('boundaries' in object && { boundaries: object.boundaries }),
    },
    ...(retentionUntil && { retentionUntil }),
    ...(policyId !== undefined && { underPolicy: { organizationId, policyId, retentionFrom } }),
  })
  // Sent with the commit.
  deferToCommit(
    tx,
    storing,
    noteDeadline(tx, { agentId, packageId, threadId: opened.resource.thread_id, object, receivedAt }),
  )
  if (isPolicyKept && object.object_type === 'policy_envelope')
    await shortenRetention(tx, {
      agentId,
      organizationId,
      policyId: object.policy_id,
      days: object.retention.duration_days,
    })
}
