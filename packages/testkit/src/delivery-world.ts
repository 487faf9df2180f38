import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from './test-world.ts'
import { sendPackage } from './package-draft.ts'
import { startReceiver, type WebhookReceiver } from './webhook-receiver.ts'
import { startWorld, type WorldOptions } from './world.ts'
import type { World } from './test-world.ts'

const WAIT_LIMIT_MS = 30_000
const POLL_MS = 10

/** A world with delivery, a trusted receiver, a sending and a receiving organization. */
export interface DeliveryWorld extends AsyncDisposable {
  readonly world: World
  readonly receiver: WebhookReceiver
  readonly sender: Organization
  readonly owner: Organization
  /** Registers an endpoint of the receiving organization and returns its id. */
  endpoint(url?: string): Promise<string>
  /** Creates one event for the receiving organization. */
  event(): Promise<void>
  deliveries(): Promise<DeliveryState[]>
  /** Waits until the deliveries satisfy the condition. */
  until(wanted: (deliveries: DeliveryState[]) => boolean, what: string): Promise<DeliveryState[]>
}

export interface DeliveryState {
  readonly delivery_id: string
  readonly state: string
  readonly attempt: number
  readonly next_attempt_at: Date
  /** Set while an attempt is in progress. */
  readonly claim_id: string | null
  readonly attempts: { outcome: string; started_at: string; details: Record<string, unknown> }[]
}

export async function deliveryWorld(options: WorldOptions = {}): Promise<DeliveryWorld> {
  const cleanup = new AsyncDisposableStack()
  const receiver = cleanup.use(await startReceiver())
  const world = cleanup.use(
    await startWorld({
      ...options,
      config: {
        role: 'all',
        webhook: { ca: receiver.authority.certificate, allowPrivate: true },
        ...options.config,
      },
    }),
  )
  const [sender, owner] = await Promise.all([world.organization('sender'), world.organization('owner')])
  const deliveries = () => world.sql<DeliveryState[]>`
    select delivery_id, state, attempt, next_attempt_at, claim_id, coalesce((
      select json_agg(json_build_object('outcome', outcome, 'started_at', started_at, 'details', details::json)
        order by attempt)
      from delivery_attempt where delivery_attempt.delivery_id = delivery.delivery_id), '[]') as attempts
    from delivery order by created_at, delivery_id`
  return {
    world,
    receiver,
    sender,
    owner,
    async endpoint(url = receiver.url) {
      const answer = await owner.post('/v1/webhook-endpoints', { url, event_types: [] })
      if (answer.status !== 201) throw new Error(answer.text)
      return String(answer.body['webhook_endpoint_id'])
    },
    event: async () => void (await sendPackage(sender, owner)),
    deliveries,
    async until(wanted, what) {
      let last: DeliveryState[] = []
      for (let waited = 0; waited < WAIT_LIMIT_MS; waited += POLL_MS) {
        last = await deliveries()
        if (wanted(last)) return last
        await sleep(POLL_MS)
      }
      throw new Error(`not ${what} in time: ${JSON.stringify(last, null, 1)}`)
    },
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  }
}

export const allDelivered = (deliveries: readonly DeliveryState[]) =>
  deliveries.length > 0 && deliveries.every(({ state }) => state === 'delivered')
