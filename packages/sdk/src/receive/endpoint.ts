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
  /** Absent while its registration is unfinished. */
  readonly endpoint?: WebhookEndpointResource
}

/**
 * Registers the address for webhooks, once over all restarts. The exchange's keys are pinned first, because
 * the first delivery may come before the answer does. Every address that was registered stays known, also when another
 * one is refused: registered twice, it would get each event twice.
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
  // An unfinished registration of the same is the same intent; anything else gets a key of its own.
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
  // Rotated between the two calls: the key that will sign is pinned before it does.
  const pins = await keys.pins()
  if (!pins?.keys.some(({ key_id }) => key_id === endpoint.signing_key_id)) await keys.refresh()
  return endpoint
}

/** Whether the exchange has said no; whatever else went wrong, it may have registered the address. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ExchangeError && error.code === 'exchange_refused' && !error.retryable
}

/**
 * The address that was registered last, for deliveries that come after a restart.
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
