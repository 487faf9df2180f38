import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { packageState } from '../schema/package-state.ts'
import {
  digest,
  organizationId,
  protocolVersion,
  resourceId,
  threadId,
  timestamp,
  transportMode,
} from '../schema/shared.ts'
import { cursor, name, request, resource, text, uri } from './forms.ts'

/** RFC 3986 section 3: scheme, slashes and an authority without user information. */
const httpsAddress = Type.String({
  format: 'uri',
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^/?#@\\\\]+(?:[/?][^\\\\]*)?$',
  not: { pattern: '#' },
  description: 'an https address without user information or fragment',
  ...proves({ default: 'EVT-15', not: 'O-33' }),
})

const eventTypes = Type.Array(Type.String(), {
  description: 'the event types that the endpoint gets; an empty list means all',
  ...ours('O-10'),
})

export const webhookEndpointRequest = define(
  'WebhookEndpointRequest',
  request(
    { url: httpsAddress, event_types: eventTypes },
    proves({ default: 'EVT-15', additionalProperties: 'O-29' }),
  ),
)

export const webhookEndpointResource = define(
  'WebhookEndpointResource',
  resource({
    webhook_endpoint_id: name,
    url: uri,
    event_types: eventTypes,
    status: Type.String({ ...ours('O-05'), ...inUse('active') }),
    signing_key_id: name,
  }),
)

/** Notifies of a change of package metadata; it never contains content, sealed or not. */
export const notificationEnvelope = define(
  'NotificationEnvelope',
  resource(
    {
      notification_id: name,
      event_id: name,
      event_type: Type.String({
        minLength: 1,
        ...ours('O-10'),
        ...inUse('package.accepted', 'package.delivered', 'package.received'),
      }),
      protocol_version: protocolVersion,
      sequence: Type.Integer({ minimum: 0 }),
      occurred_at: timestamp,
      organization_id: organizationId,
      package_id: resourceId,
      thread_id: threadId,
      state: packageState,
      transport_mode: transportMode,
      content_digest: digest,
      correlation_id: text,
    },
    proves('EVT-02'),
  ),
)

export const notificationPage = define(
  'NotificationPage',
  resource({ items: Type.Array(notificationEnvelope), next_cursor: cursor, has_more: Type.Boolean() }),
)

const sequenceMark = Type.Integer({
  minimum: 0,
  // RFC 7493 section 2.2: larger integers are not exact as doubles.
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'the highest sequence without gaps before it',
  ...proves({ maximum: 'O-14' }),
})

export const acknowledgementRequest = define(
  'NotificationAcknowledgementRequest',
  request(
    {
      event_id: name,
      disposition: Type.String({
        minLength: 1,
        ...ours('O-34'),
        ...inUse('stored'),
        ...proves({ minLength: 'O-14' }),
      }),
      stored_at: timestamp,
      last_contiguous_sequence: sequenceMark,
    },
    proves({ default: 'EVT-11', additionalProperties: 'O-29' }),
  ),
)

export const acknowledgement = define(
  'NotificationAcknowledgement',
  resource({
    notification_id: name,
    event_id: name,
    disposition: Type.String({ ...ours('O-34'), ...inUse('stored') }),
    acknowledged_at: { ...timestamp, ...ours('O-11') },
    last_contiguous_sequence: sequenceMark,
  }),
)

export type WebhookEndpointRequest = Static<typeof webhookEndpointRequest>
export type WebhookEndpointResource = Static<typeof webhookEndpointResource>
export type NotificationEnvelope = Static<typeof notificationEnvelope>
export type NotificationPage = Static<typeof notificationPage>
export type AcknowledgementRequest = Static<typeof acknowledgementRequest>
export type Acknowledgement = Static<typeof acknowledgement>
