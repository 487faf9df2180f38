import { setTimeout as sleep } from 'node:timers/promises'
import { loggableError, type Database } from '@agent-exchange/database'
import { MasterKeyError } from '@agent-exchange/server/master-key'
import { provenanceOf } from '../content/provenance.ts'
import { toShownItem, type LeasedItem } from '../inbox/inbox-item.ts'
import { failItem, finishItem, UNREADABLE_CONTENT } from '../inbox/inbox-items.ts'
import type { LeaseWaiters } from '../inbox/lease-waiters.ts'
import { traced, type WorkSpans } from '../operations/traced-work.ts'
import { listPushEndpoints, type PushEndpoint, type SecretWrap } from './push-endpoints.ts'
import { PAUSE_MS, VISIBILITY_SECONDS, WAIT_SECONDS } from './push-limits.ts'
import { createPushSender, type PushResult, type PushSettings } from './push-sender.ts'
import { createPushSlots } from './push-slots.ts'
import { webhookHeaders } from './standard-webhook.ts'

export interface PushWorkerSettings extends PushSettings {
  readonly db: Database
  readonly leases: LeaseWaiters
  readonly box: SecretWrap
  readonly now: () => Date
  readonly tracing?: WorkSpans
  readonly onPush?: (outcome: PushResult['outcome']) => void
  readonly log: { error(fields: object, message: string): void }
}

/**
 * Pushes the items of agents that have an endpoint. It is a consumer of the inbox like any other: an answer of 2xx is
 * done, anything else a failure with its pause, and several instances compete. Endpoints do not wait for each other.
 */
export function startPushWorker(settings: PushWorkerSettings): AsyncDisposable {
  const { db, leases, box, log, tracing } = settings
  const sender = createPushSender(settings)
  const stopped = new AbortController()
  const slots = createPushSlots()
  const unreadable = new Set<string>()

  function onUnreadable(endpointId: string): void {
    if (!unreadable.has(endpointId))
      log.error(
        { endpoint: endpointId },
        'the secret of a push endpoint cannot be decrypted; nothing is pushed to it',
      )
    unreadable.add(endpointId)
  }

  async function round(): Promise<void> {
    const listed = await listPushEndpoints(db, box, onUnreadable)
    const endpoints = new Map(listed.map((each) => [each.agentId, each]))
    const { agentIds, max, changed } = slots.free(endpoints.keys())
    const signal = AbortSignal.any([stopped.signal, changed])
    if (max === 0) {
      await sleep(WAIT_SECONDS * 1_000, undefined, { signal, ref: false }).catch(() => undefined)
      return
    }
    const reader = (agentId: string) => readerFor(endpoints.get(agentId))
    const request = { agentIds, max, visibilitySeconds: VISIBILITY_SECONDS, by: 'push', reader }
    for (const item of (await leases.take(request, { seconds: WAIT_SECONDS, signal })) ?? [])
      slots.run(item.agentId, () => push(item, endpoints.get(item.agentId)))
  }

  /** Whether the endpoint accepted the item. */
  async function push(item: LeasedItem, endpoint: PushEndpoint | undefined): Promise<boolean> {
    if (!endpoint) return false
    const lease = { agentIds: [item.agentId], itemId: item.itemId, leaseToken: item.leaseToken }
    try {
      const body = bodyOf(item)
      const headers = webhookHeaders({ id: item.itemId, at: settings.now(), body }, endpoint.secret)
      const result = await traced(tracing, 'push item', () => sender.send(endpoint.url, headers, body))
      settings.onPush?.(result.outcome)
      if (result.outcome === 'accepted') await finishItem(db, lease)
      else await failItem(db, lease, result.reason)
      return result.outcome === 'accepted'
    } catch (error) {
      const { endpointId } = endpoint
      log.error(
        { err: loggableError(error), endpoint: endpointId, item: item.itemId },
        'pushing an item failed',
      )
      // Otherwise the lease ends by itself, which counts as an attempt too.
      if (error instanceof MasterKeyError)
        await failItem(db, lease, UNREADABLE_CONTENT).catch(() => undefined)
      return false
    }
  }

  async function run(): Promise<void> {
    while (!stopped.signal.aborted)
      try {
        await round()
      } catch (error) {
        if (stopped.signal.aborted) return
        log.error({ err: loggableError(error) }, 'pushing failed')
        await sleep(PAUSE_MS, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)
      }
  }

  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stopped.abort()
      await running
      await slots.idle()
      await sender[Symbol.asyncDispose]()
    },
  }
}

const readerFor = (endpoint: PushEndpoint | undefined) =>
  ({ kind: 'system', id: endpoint?.endpointId ?? 'push', purpose: 'push' }) as const

/** The payload of Standard Webhooks: type, timestamp and data. */
function bodyOf(item: LeasedItem): string {
  const { content } = item
  if (content instanceof MasterKeyError) throw content
  return JSON.stringify({
    type: 'package.received',
    timestamp: item.receivedAt,
    data: {
      ...toShownItem(item),
      attempt: item.attempts,
      ...(content !== undefined &&
        content !== 'gone' && {
          direction: content.direction,
          object: content.object,
          provenance: provenanceOf(content),
        }),
    },
  })
}
