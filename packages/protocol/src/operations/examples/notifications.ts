import type {
  Acknowledgement,
  AcknowledgementRequest,
  NotificationEnvelope,
  NotificationPage,
  WebhookEndpointRequest,
  WebhookEndpointResource,
} from '../../resources/notifications.ts'
import { PROTOCOL_VERSION, WEBHOOK_SIGNATURE } from '../../wire.ts'
import { DIGEST, KEY, MANUFACTURER, PACKAGE, SIGNATURE_TEXT, THREAD, TIME } from './story.ts'

export const endpoint: WebhookEndpointRequest = {
  url: 'https://agents.carmaker.example/webhooks/exchange',
  event_types: ['package.accepted', 'package.delivered', 'package.received'],
}
export const registeredEndpoint: WebhookEndpointResource = {
  webhook_endpoint_id: 'whe_carmaker_1',
  ...endpoint,
  status: 'active',
  signing_key_id: KEY.platform,
}

export const notification: NotificationEnvelope = {
  notification_id: 'ntf_carmaker_41',
  event_id: 'evt_seat_rails_accepted',
  event_type: 'package.accepted',
  protocol_version: PROTOCOL_VERSION,
  sequence: 41,
  occurred_at: TIME.accepted,
  organization_id: MANUFACTURER.organization_id,
  package_id: PACKAGE,
  thread_id: THREAD,
  state: 'accepted',
  transport_mode: 'native',
  content_digest: DIGEST.content,
  correlation_id: 'corr_seat_rails_w12',
}

export const notificationPage: NotificationPage = {
  items: [notification],
  next_cursor: 'q1Zm0kVtQm9zX2V4YW1wbGU',
  has_more: false,
}

export const acknowledgementRequest: AcknowledgementRequest = {
  event_id: notification.event_id,
  disposition: 'stored',
  stored_at: '2026-03-02T08:00:01Z',
  last_contiguous_sequence: notification.sequence,
}
export const acknowledgement: Acknowledgement = {
  notification_id: notification.notification_id,
  event_id: notification.event_id,
  disposition: 'stored',
  acknowledged_at: '2026-03-02T08:00:01.330Z',
  last_contiguous_sequence: notification.sequence,
}

const covered = WEBHOOK_SIGNATURE.components.map((name) => `"${name}"`).join(' ')
const { label, algorithm, tag } = WEBHOOK_SIGNATURE

/** Header fields of a webhook, by lower-case name. */
export const webhookHeaders: Readonly<Record<string, string>> = {
  'content-digest': 'sha-256=:Oo1H3wU+KqXPJSn11Z6zrZECriTMHYl2d+MfxmrxO2A=:',
  'svc-delivery-id': 'dlv_carmaker_41',
  'svc-event-id': notification.event_id,
  'svc-delivery-attempt': '1',
  'signature-input': `${label}=(${covered});created=1772438400;expires=1772438700;keyid="${KEY.platform}";alg="${algorithm}";tag="${tag}"`,
  signature: `${label}=:${SIGNATURE_TEXT.replaceAll('-', '+').replaceAll('_', '/')}==:`,
}
