import type { WebhookEndpointResource } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { deterministicKey } from './deterministic-key.ts'
import type { Inbox } from './inbox.ts'
import { FIXED_LIMITS } from './receive-limits.ts'
import type { NotificationKeys } from './notification-keys.ts'

const STORED_AS = 'webhook_endpoint'

export interface EndpointOptions {
  /**
   * Event types that are delivered by webhook. Defaults to all. Ordering needs the whole stream, so other events are
   * polled.
   */
  readonly eventTypes?: readonly string[]
  /** Registers again although an endpoint is remembered: the operator removed or disabled it. */
  readonly again?: boolean
}

interface Remembered {
  /** Number of the registration, so that a new one gets a new idempotency key. */
  readonly generation: number
  readonly url: string
  readonly eventTypes: readonly string[]
  /** Absent until the registration completes. */
  readonly endpoint?: WebhookEndpointResource
}

/**
 * Registers the webhook address once, across restarts. Pins the exchange's keys first, since the first delivery may
 * arrive before the response. Remembers every registered address: registering one twice would deliver each event twice.
 */
export async function ensureEndpoint(
  { connection, identity }: AgentContext,
  { inbox, keys }: { readonly inbox: Inbox; readonly keys: NotificationKeys },
  url: string,
  { eventTypes = [], again = false }: EndpointOptions = {},
): Promise<WebhookEndpointResource> {
  const known = await remembered(inbox)
  const isSame = (one: Remembered) => one.url === url && sameTypes(one.eventTypes, eventTypes)
  const before = known.find(isSame)
  const others = known.filter((one) => !isSame(one))
  if (before?.endpoint && !again) {
    await remember(inbox, [before, ...others])
    return before.endpoint
  }
  await keys.refresh()
  // Resumes an unfinished registration of the same address; any other gets a new key.
  const isUnfinished = before !== undefined && before.endpoint === undefined
  const latest = Math.max(0, ...known.map((one) => one.generation))
  const generation = isUnfinished ? before.generation : latest + 1
  const intent: Remembered = { generation, url, eventTypes }
  await remember(inbox, [intent, ...others])
  const endpoint = await connection
    .call('createWebhookEndpoint', {
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
    .catch(async (error: unknown) => {
      if (isRefusal(error)) await remember(inbox, known)
      throw error
    })
  await remember(inbox, [{ ...intent, endpoint }, ...others])
  // The exchange rotated its key meanwhile: pin the new key before it signs.
  const pins = await keys.pins()
  if (!pins?.keys.some(({ key_id }) => key_id === endpoint.signing_key_id)) await keys.refresh()
  return endpoint
}

/** Whether the exchange refused. After any other failure the address may be registered. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ExchangeError && error.code === 'exchange_refused' && !error.retryable
}

/**
 * The last registered address, for deliveries after a restart.
 *
 * @example
 * const url = await rememberedUrl(inbox)
 */
export async function rememberedUrl(inbox: Inbox): Promise<string | undefined> {
  const [latest] = await remembered(inbox)
  return latest?.url
}

/** The endpoint that was registered last; undefined where there is none, or its registration is unfinished. */
export async function rememberedEndpoint(inbox: Inbox): Promise<WebhookEndpointResource | undefined> {
  const [latest] = await remembered(inbox)
  return latest?.endpoint
}

/** The latest first. */
async function remembered(inbox: Inbox): Promise<readonly Remembered[]> {
  const text = await inbox.readValue(STORED_AS)
  if (text === undefined) return []
  const value = JSON.parse(text) as Remembered | readonly Remembered[]
  // The first release kept the latest alone.
  return Array.isArray(value) ? value : [value as Remembered]
}

async function remember(inbox: Inbox, endpoints: readonly Remembered[]): Promise<void> {
  await inbox.writeValue(STORED_AS, JSON.stringify(endpoints.slice(0, FIXED_LIMITS.rememberedEndpoints)))
}

function sameTypes(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a.toSorted()) === JSON.stringify(b.toSorted())
}
