import type { WebhookEndpointResource } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { deterministicKey } from './deterministic-key.ts'
import type { Inbox } from './inbox.ts'
import type { NotificationKeys } from './notification-keys.ts'

const STORED_AS = 'webhook_endpoint'

export interface EndpointOptions {
  /**
   * Which events come by webhook; all of them unless told. Order needs the whole stream, so the others still
   * come, by polling.
   */
  readonly eventTypes?: readonly string[]
  /** Registers anew although one is remembered: the operator has removed or disabled it. */
  readonly again?: boolean
}

interface Remembered {
  /** Counts registrations, so that a new one is a new intent. */
  readonly generation: number
  readonly url: string
  readonly eventTypes: readonly string[]
  readonly endpoint?: WebhookEndpointResource
}

/**
 * Registers the address for webhooks, once over all restarts. The exchange's keys are pinned first, because
 * the first delivery may come before the answer does.
 */
export async function ensureEndpoint(
  { connection, identity }: AgentContext,
  { inbox, keys }: { readonly inbox: Inbox; readonly keys: NotificationKeys },
  url: string,
  { eventTypes = [], again = false }: EndpointOptions = {},
): Promise<WebhookEndpointResource> {
  const before = await remembered(inbox)
  const isSame = before?.url === url && sameTypes(before.eventTypes, eventTypes)
  if (isSame && !again && before.endpoint) return before.endpoint
  await keys.refresh()
  // An unfinished registration of the same is the same intent; anything else gets a key of its own.
  const isUnfinished = isSame && before.endpoint === undefined
  const generation = isUnfinished ? before.generation : (before?.generation ?? 0) + 1
  const intent: Remembered = { generation, url, eventTypes }
  await inbox.writeValue(STORED_AS, JSON.stringify(intent))
  const endpoint = await connection.call('createWebhookEndpoint', {
    body: { url, event_types: [...eventTypes] },
    idempotencyKey: await deterministicKey(
      'endpoint',
      identity.organizationId,
      identity.agentId,
      url,
      ...eventTypes.toSorted(),
      String(generation),
    ),
  })
  await inbox.writeValue(STORED_AS, JSON.stringify({ ...intent, endpoint }))
  // Rotated between the two calls: the key that will sign is pinned before it does.
  const pins = await keys.pins()
  if (!pins?.keys.some(({ key_id }) => key_id === endpoint.signing_key_id)) await keys.refresh()
  return endpoint
}

/**
 * The address that was registered last, for deliveries that come after a restart.
 *
 * @example
 * const url = await rememberedUrl(inbox)
 */
export async function rememberedUrl(inbox: Inbox): Promise<string | undefined> {
  return (await remembered(inbox))?.url
}

/** The endpoint that was registered last; undefined where there is none, or its registration is unfinished. */
export async function rememberedEndpoint(inbox: Inbox): Promise<WebhookEndpointResource | undefined> {
  return (await remembered(inbox))?.endpoint
}

async function remembered(inbox: Inbox): Promise<Remembered | undefined> {
  const text = await inbox.readValue(STORED_AS)
  return text === undefined ? undefined : (JSON.parse(text) as Remembered)
}

function sameTypes(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted())
}
