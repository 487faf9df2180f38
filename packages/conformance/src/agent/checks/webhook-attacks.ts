import type { Notification } from '../scripted-stream.ts'
import { COMPONENTS, type WebhookDeviation } from '../signed-webhook.ts'
import type { WebhookKeyName } from '../webhook-keys.ts'

/** One right webhook with one thing changed. */
export interface WebhookCase {
  readonly key?: WebhookKeyName
  readonly event?: object
  readonly deviation?: (event: Notification, url: string) => WebhookDeviation
}

export interface WebhookRule {
  readonly name: string
  /** What an agent must do. */
  readonly title: string
  readonly cases: readonly WebhookCase[]
}

const parameters = (from: string | RegExp, to: string): WebhookCase => ({
  deviation: () => ({ parameters: (text) => text.replace(from, to) }),
})
const deviating = (deviation: WebhookDeviation): WebhookCase => ({ deviation: () => deviation })
const flipped = (bytes: Buffer) => Buffer.from(bytes.map((byte, at) => (at === 5 ? byte ^ 1 : byte)))
const without = (event: Notification, name: string) => JSON.stringify({ ...event, [name]: undefined })
const FIELDS = COMPONENTS.filter((name) => !name.startsWith('@'))
const MEMBERS = [
  'notification_id',
  'event_id',
  'event_type',
  'protocol_version',
  'sequence',
  'occurred_at',
  'organization_id',
  'package_id',
  'thread_id',
  'state',
  'transport_mode',
  'content_digest',
  'correlation_id',
]

/** Everything that a receiver has to reject before storage. */
export const REJECTED: readonly WebhookRule[] = [
  {
    name: 'component-not-covered',
    title: 'a signature that leaves out a component is rejected',
    cases: COMPONENTS.map((uncovered) => deviating({ uncovered })),
  },
  {
    name: 'field-absent',
    title: 'a webhook without a required header field is rejected',
    cases: [...FIELDS, 'signature', 'signature-input'].map((name) =>
      deviating({ headers: { [name]: undefined } }),
    ),
  },
  {
    name: 'profile',
    title: 'another label, algorithm, tag or order of components is rejected',
    cases: [
      deviating({ label: 'sig2' }),
      parameters('ecdsa-p256-sha256', 'ed25519'),
      parameters('svc-webhook', 'svc-other'),
      parameters(/;tag="[^"]*"/u, ''),
      parameters('"@method" "@authority"', '"@authority" "@method"'),
    ],
  },
  {
    name: 'key-absent',
    title: 'a signature without a key id is rejected',
    cases: [parameters(/;keyid="[^"]*"/u, '')],
  },
  {
    name: 'key-unknown',
    title: 'a key that is not in the directory is rejected',
    cases: [{ key: 'unlisted' }],
  },
  { name: 'key-early', title: 'a key that is not valid yet is rejected', cases: [{ key: 'early' }] },
  {
    name: 'key-retired',
    title: 'a key that is retired, or past its end, is rejected',
    cases: [{ key: 'retired' }, { key: 'over' }],
  },
  { name: 'key-revoked', title: 'a revoked key is rejected', cases: [{ key: 'revoked' }] },
  {
    name: 'expired',
    title: 'an expired signature is rejected',
    cases: [deviating({ createdAgo: 1_000 }), deviating({ createdAgo: 600, lifetime: 120 })],
  },
  {
    name: 'from-the-future',
    title: 'a signature that is made in the future is rejected',
    cases: [deviating({ createdAgo: -900 })],
  },
  {
    name: 'lifetime',
    title: 'a signature that lives longer than five minutes is rejected',
    cases: [deviating({ lifetime: 600 }), parameters(/;expires=\d+/u, '')],
  },
  {
    name: 'signature',
    title: 'a signature that does not verify is rejected',
    cases: [
      deviating({ signature: flipped }),
      deviating({ signature: (bytes) => bytes.subarray(0, 32) }),
      { deviation: (_, url) => ({ signedUrl: new URL('/other/path', url).href }) },
      { deviation: (_, url) => ({ signedUrl: url.replace(/\/\/[^/]+/u, '//other.example') }) },
      deviating({ headers: { 'svc-delivery-id': 'dlv_other' } }),
      deviating({ headers: { 'svc-delivery-attempt': '6' } }),
    ],
  },
  {
    name: 'body-digest',
    title: 'a body with another digest is rejected',
    cases: [
      { deviation: (event) => ({ bodyAfterwards: `${JSON.stringify(event)} ` }) },
      deviating({ contentDigest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' }),
    ],
  },
  {
    name: 'event-id',
    title: 'a header that names another event than the body is rejected',
    cases: [deviating({ eventId: 'evt_other' })],
  },
  {
    name: 'notification',
    title: 'a signed body that is no notification is rejected',
    cases: [
      deviating({ body: 'no json' }),
      deviating({ body: '[]' }),
      ...MEMBERS.map((name): WebhookCase => ({ deviation: (event) => ({ body: without(event, name) }) })),
      { event: { protocol_version: 'svc/9.9' } },
    ],
  },
]

/** What a receiver has to accept, although it is unusual. */
export const ACCEPTED: readonly WebhookRule[] = [
  { name: 'usual', title: 'a right webhook is stored', cases: [{}] },
  { name: 'key-retiring', title: 'a retiring key still counts', cases: [{ key: 'retiring' }] },
  {
    name: 'other-event-type',
    title: 'an event type that the specification does not name is stored',
    cases: [{ event: { event_type: 'package.considered' } }],
  },
  { name: 'short-lifetime', title: 'a shorter lifetime is accepted', cases: [deviating({ lifetime: 60 })] },
  {
    name: 'late-attempt',
    title: 'the seventh attempt and an older signature within its time are accepted',
    cases: [deviating({ attempt: 7, createdAgo: 120 })],
  },
  {
    name: 'spacing',
    title: 'a body with other spacing is accepted',
    cases: [{ deviation: (event) => ({ body: JSON.stringify(event, null, 2) }) }],
  },
  {
    name: 'connector-transfer',
    title: 'an event of a connector transfer is stored',
    cases: [{ event: { transport_mode: 'ds_x', state: 'transfer_started' } }],
  },
]
