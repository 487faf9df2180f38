import type { Transaction } from '@agent-exchange/database'
import type { PackageHandler } from '@agent-exchange/sdk'
import type { ContentStore } from '../content/content-store.ts'
import { keepReceivedPolicy } from '../content/received-policies.ts'
import { retentionEnd } from '../content/retention.ts'
import { addInboxItem } from '../inbox/add-item.ts'
import { noteDeadline } from '../operations/response-deadlines.ts'
import { sequenceOf } from '../stores/event-rows.ts'
import type { HostedAgent } from './hosted-agent.ts'

/**
 * What the gateway does with each opened package: content and inbox item are stored in the transaction that marks the
 * event as processed, so a crash in between repeats all of it or nothing.
 */
export function receivePackage(
  { agentId, agent }: HostedAgent,
  contents: ContentStore,
  now: () => Date,
): PackageHandler<Transaction> {
  return ({ key, packageId, thread, from, object, opened }) => {
    const openedAt = now()
    const { retention_begins: begins } = agent.context.deployment.profile['O-51']
    const times = { opened: openedAt, accepted: new Date(opened.acceptedAt) }
    const retentionUntil = retentionEnd(object, times, begins)
    const { responds_to_package_id: respondsTo } = opened.metadata
    return async (tx) => {
      await contents.put(tx, {
        agentId,
        packageId,
        threadId: thread.id,
        direction: 'received',
        object,
        provenance: {
          sender: { organization_id: from.organizationId, agent_id: from.agentId },
          written_by: {
            organization_id: opened.writtenBy.organizationId,
            agent_id: opened.writtenBy.agentId,
          },
          signed_by_key: opened.senderKey.keyId,
          signing_key_fingerprint: opened.senderKey.fingerprint,
          accepted_at: opened.acceptedAt,
          opened_at: openedAt.toISOString(),
          log_conflict: opened.logConflict !== undefined,
          receipts_sent: opened.receipts.map(({ state }) => state),
          ...(respondsTo !== undefined && { responds_to: respondsTo }),
          ...('boundaries' in object && { boundaries: object.boundaries }),
        },
        ...(retentionUntil && { retentionUntil }),
      })
      const receivedAt = openedAt.toISOString()
      const policy = { agentId, packageId, organizationId: from.organizationId, object }
      await keepReceivedPolicy(tx, policy, receivedAt)
      await noteDeadline(tx, { agentId, packageId, threadId: thread.id, object, receivedAt })
      await addInboxItem(tx, {
        agentId,
        packageId,
        threadId: thread.id,
        sequence: await sequenceOf(tx, agentId, key),
        contentType: object.object_type,
        receivedAt,
      })
    }
  }
}
