import { setTimeout as sleep } from 'node:timers/promises'
import { loggableError, type Database } from '@agent-exchange/database'
import type { ContentStore } from '../content/content-store.ts'
import { failItem, finishItem, type LeasedItem } from '../inbox/inbox-items.ts'
import type { LeaseWaiters } from '../inbox/lease-waiters.ts'
import { listPushEndpoints, type PushEndpoint, type SecretWrap } from './push-endpoints.ts'
import { ITEMS_AT_ONCE, PAUSE_MS, VISIBILITY_SECONDS, WAIT_SECONDS } from './push-limits.ts'
import { createPushSender, type PushSettings } from './push-sender.ts'
import { webhookHeaders } from './standard-webhook.ts'

export interface PushWorkerSettings extends PushSettings {
  readonly db: Database
  readonly leases: LeaseWaiters
  readonly contents: ContentStore
  readonly box: SecretWrap
  readonly now: () => Date
  readonly log: { error(fields: object, message: string): void }
}

/**
 * Pushes the items of agents that have an endpoint. It is a consumer of the inbox like any other: an answer of 2xx is
 * done, anything else a failure with its pause, and several instances compete.
 */
export function startPushWorker(settings: PushWorkerSettings): AsyncDisposable {
  const { db, leases, box, log } = settings
  const sender = createPushSender(settings)
  const stopped = new AbortController()
  const { signal } = stopped

  async function round(): Promise<void> {
    const endpoints = new Map((await listPushEndpoints(db, box)).map((each) => [each.agentId, each]))
    if (endpoints.size === 0) {
      await sleep(WAIT_SECONDS * 1_000, undefined, { signal, ref: false })
      return
    }
    const request = {
      agentIds: [...endpoints.keys()],
      max: ITEMS_AT_ONCE,
      visibilitySeconds: VISIBILITY_SECONDS,
      by: 'push',
    }
    const items = await leases.take(request, { seconds: WAIT_SECONDS, signal })
    await Promise.all((items ?? []).map((item) => push(item, endpoints.get(item.agentId))))
  }

  async function push(item: LeasedItem, endpoint: PushEndpoint | undefined): Promise<void> {
    if (!endpoint) return
    const lease = { agentIds: [item.agentId], itemId: item.itemId, leaseToken: item.leaseToken }
    const body = await bodyOf(settings, item, endpoint)
    const headers = webhookHeaders({ id: item.itemId, at: settings.now(), body }, endpoint.secret)
    const result = await sender.send(endpoint.url, headers, body)
    if (result.outcome === 'accepted') await finishItem(db, lease)
    else await failItem(db, lease, result.reason)
  }

  async function run(): Promise<void> {
    while (!signal.aborted)
      try {
        await round()
      } catch (error) {
        if (signal.aborted) return
        log.error({ err: loggableError(error) }, 'pushing failed')
        await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined)
      }
  }

  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await running
      await sender[Symbol.asyncDispose]()
    },
  }
}

/** The payload of Standard Webhooks: type, timestamp and data. Reading the content is an entry of the access record. */
async function bodyOf(
  { contents }: PushWorkerSettings,
  item: LeasedItem,
  { endpointId }: PushEndpoint,
): Promise<string> {
  const reader = { kind: 'system', id: endpointId, purpose: 'push' } as const
  const content = await contents.read(reader, item.agentId, item.packageId)
  return JSON.stringify({
    type: 'package.received',
    timestamp: item.receivedAt,
    data: {
      item_id: item.itemId,
      agent_id: item.agentId,
      package_id: item.packageId,
      thread_id: item.threadId,
      sequence: item.sequence,
      content_type: item.contentType,
      attempt: item.attempts,
      ...(content !== undefined &&
        content !== 'gone' && {
          direction: content.direction,
          object: content.object,
          provenance: content.provenance,
        }),
    },
  })
}
