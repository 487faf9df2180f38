import type { ReceivedWebhook } from '../src/service/webhook-receiver.ts'
import { isObject, parseObject } from '../src/wire/wire.ts'
import { accepts, answers, bodies, type Mutant, type Alteration, type Mutation } from './mutant.ts'

type Members = Readonly<Record<string, unknown>>
const list = (value: unknown) => (Array.isArray(value) ? (value as Members[]) : [])
const items = (change: (all: Members[]) => Members[]): Mutation =>
  bodies(['listNotifications'], (body) => ({ ...body, items: change(list(body['items'])) }))
const webhooks =
  (change: (webhook: ReceivedWebhook) => ReceivedWebhook): Alteration =>
  () =>
  (webhook) => [change(webhook)]
const withHeader = (
  webhook: ReceivedWebhook,
  name: string,
  change: (value: string) => string,
): ReceivedWebhook => ({
  ...webhook,
  headers: { ...webhook.headers, [name]: change(webhook.headers[name] ?? '') },
})
/** Every request arrives a second time as the next attempt. */
const tooEarly: Alteration = () => (webhook) => [
  webhook,
  withHeader(webhook, 'svc-delivery-attempt', (attempt) => String(Number(attempt) + 1)),
]
const evidence = ['getThreadAuditEvidence', 'getPackageAuditEvidence'] as const

/** Drops a member of every audit event. */
function withoutTrace(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTrace)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(
    ([name]) => value['object_type'] !== 'audit_event' || name !== 'trace',
  )
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutTrace(inner)]))
}

export const EVENT_MUTANTS: readonly Mutant[] = [
  { id: 'OBJ-10', does: 'leaves the trace out of audit events', mutate: bodies(evidence, withoutTrace) },
  { id: 'EVT-01', does: 'shows the newest event later', mutate: items((all) => all.slice(0, -1)) },
  {
    id: 'EVT-02',
    does: 'adds a member to notifications',
    mutate: items((all) => all.map((item) => ({ ...item, subject: 'x' }))),
  },
  {
    id: 'EVT-03',
    does: 'numbers notifications differently in polling',
    mutate: items((all) =>
      all.map((item) => ({ ...item, notification_id: `${String(item['notification_id'])}x` })),
    ),
    check: 'webhooks/signed',
  },
  {
    id: 'EVT-03',
    does: 'has a new delivery id for each attempt',
    alter: webhooks((webhook) =>
      webhook.headers['svc-delivery-attempt'] === '1'
        ? webhook
        : withHeader(webhook, 'svc-delivery-id', (id) => `${id}x`),
    ),
    check: 'webhooks/seven-attempts',
  },
  {
    id: 'EVT-04',
    does: 'leaves gaps in its sequence',
    mutate: items((all) => all.map((item) => ({ ...item, sequence: Number(item['sequence']) * 2 }))),
  },
  {
    id: 'EVT-05',
    does: 'signs webhooks with another key',
    alter: webhooks((webhook) =>
      withHeader(webhook, 'signature', (text) =>
        text.replace(/:(.)/u, (_, first) => (first === 'A' ? ':B' : ':A')),
      ),
    ),
  },
  {
    id: 'EVT-05',
    does: 'does not cover the body',
    alter: webhooks((webhook) =>
      withHeader(webhook, 'signature-input', (text) => text.replace('"content-digest" ', '')),
    ),
  },
  {
    id: 'EVT-05',
    does: 'signs webhooks for ten minutes',
    alter: webhooks((webhook) =>
      withHeader(webhook, 'signature-input', (text) =>
        text.replace(/expires=(\d+)/u, (_, expires) => `expires=${Number(expires) + 600}`),
      ),
    ),
  },
  {
    id: 'EVT-05',
    does: 'has another digest than that of the body',
    alter: webhooks((webhook) => ({ ...webhook, body: `${webhook.body} ` })),
  },
  {
    id: 'EVT-06',
    does: 'takes endpoints without TLS',
    mutate: accepts(['createWebhookEndpoint'], ['validation_failed']),
  },
  { id: 'EVT-07', does: 'repeats a delivery at once', alter: tooEarly, check: 'webhooks/seven-attempts' },
  { id: 'EVT-08', does: 'repeats what was received', alter: tooEarly, check: 'webhooks/results-by-clock' },
  {
    id: 'EVT-08',
    does: 'does not wait for Retry-After',
    answer: ({ status }) => ({ status }),
    check: 'webhooks/retry-after-by-clock',
  },
  {
    id: 'EVT-09',
    does: 'revokes a package whose webhook fails',
    mutate: laterRevoked(),
    check: 'webhooks/seven-attempts',
  },
  {
    id: 'EVT-10',
    does: 'has no cursor at the end of the stream',
    mutate: bodies(['listNotifications'], (body) =>
      body['has_more'] === true ? body : { ...body, next_cursor: null },
    ),
  },
  { id: 'EVT-10', does: 'shows the newest first', mutate: items((all) => all.toReversed()) },
  {
    id: 'EVT-11',
    does: 'acknowledges each retry with a new time',
    mutate: () => {
      let count = 0
      return bodies(['acknowledgeNotification'], (body) => ({
        ...body,
        acknowledged_at: `2026-01-01T00:00:${String(count++ % 60).padStart(2, '0')}Z`,
      }))()
    },
  },
  {
    id: 'EVT-12',
    does: 'replays under another event id',
    alter: () => {
      const seen = new Map<string, string>()
      return (webhook) => {
        const event = webhook.headers['svc-event-id'] ?? ''
        const delivery = webhook.headers['svc-delivery-id'] ?? ''
        const isReplay = (seen.get(event) ?? delivery) !== delivery
        seen.set(event, delivery)
        return [isReplay ? withHeader(webhook, 'svc-event-id', (id) => `${id}x`) : webhook]
      }
    },
  },
  {
    id: 'EVT-13',
    does: 'lists only the newest webhook key',
    mutate: () => {
      let count = 0
      return bodies(['getNotificationSigningKeys'], (body) => {
        count++
        return count < 3 ? body : { ...body, keys: list(body['keys']).slice(-1) }
      })()
    },
  },
  {
    id: 'EVT-15',
    does: 'leaves endpoints inactive',
    mutate: bodies(['createWebhookEndpoint'], (body) => ({ ...body, status: 'pending' })),
  },
  { id: 'AUD-01', does: 'shows evidence to everybody', mutate: accepts(evidence, ['resource_not_found']) },
  {
    id: 'AUD-01',
    does: 'drops earlier events from evidence',
    mutate: bodies(['getThreadAuditEvidence'], (body) => {
      const entries = list(body['entries'])
      return { ...body, entries: entries.slice(Math.max(0, entries.length - 3)) }
    }),
  },
  {
    id: 'AUD-02',
    does: 'names events that are nowhere',
    mutate: answers((answer, { operation }) =>
      operation === 'getPolicyReceipt' || operation === 'revokePackage'
        ? {
            ...answer,
            text: JSON.stringify({ ...parseObject(answer.text), audit_event_id: 'audit_nowhere' }),
          }
        : answer,
    ),
  },
]

/** Later reads of a package show it as revoked. */
function laterRevoked(): Mutation {
  return () => {
    const seen = new Set<string>()
    return bodies(['getPackage'], (body) => {
      const packageId = String(body['package_id'])
      if (seen.has(packageId)) return { ...body, state: 'revoked' }
      seen.add(packageId)
      return body
    })()
  }
}
