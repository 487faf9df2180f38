import type { DeploymentProfile } from '../profile/profile.ts'
import { notificationEnvelope } from '../resources/notifications.ts'
import { ours } from '../schema/annotations.ts'
import { nameOf, type JsonObject } from '../schema/define.ts'
import { HEADER, MAXIMUM_DELIVERY_ATTEMPTS, WEBHOOK_SIGNATURE } from '../wire.ts'
import { notification, webhookHeaders } from './examples/notifications.ts'
import { jsonContent, reference } from './openapi-schemas.ts'

const { label, algorithm, maximumLifetimeSeconds, components } = WEBHOOK_SIGNATURE

const text = { type: 'string', minLength: 1 }

const HEADERS: readonly (readonly [name: string, description: string, schema: JsonObject])[] = [
  ['Content-Digest', 'SHA-256 of the exact body (RFC 9530).', text],
  [
    'Signature-Input',
    `Covered components, in this order: ${components.join(', ')}; label ${label}, algorithm ${algorithm}, valid for at most ${maximumLifetimeSeconds} seconds (RFC 9421).`,
    text,
  ],
  ['Signature', 'The signature, 64 bytes r||s (RFC 9421), by a key of getNotificationSigningKeys.', text],
  [HEADER.deliveryId, 'Id of the delivery, the same for all its attempts.', text],
  [HEADER.eventId, 'Equals event_id of the body. Store each event once.', text],
  [
    HEADER.deliveryAttempt,
    'Number of this attempt.',
    { type: 'integer', minimum: 1, maximum: MAXIMUM_DELIVERY_ATTEMPTS },
  ],
]

/** The webhook request to a registered endpoint. It is not an operation of the API, so it has no operationId. */
export function webhook(profile: DeploymentProfile): JsonObject {
  const { signature, digest, notification: unreadable, inbox } = profile['O-12']
  const rejections = [
    [signature, 'The signature, its parameters or its key are not accepted.'],
    [digest, 'The body does not match its digest.'],
    [unreadable, 'The body is not a notification, or its ids differ from the headers.'],
    [inbox, 'The event could not be stored. The delivery is retried.'],
  ] as const
  const answers = Map.groupBy(rejections, ([status]) => status)
  return {
    post: {
      summary: 'A notification, signed by the platform',
      description:
        'Sent to the url of a webhook endpoint. Verify the signature and the digest first, store the event, then respond.',
      tags: ['webhooks'],
      security: [],
      parameters: HEADERS.map(([name, description, schema]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema,
        example: exampleOf(name, schema),
      })),
      requestBody: {
        required: true,
        content: jsonContent(reference(nameOf(notificationEnvelope)), { example: { ...notification } }),
      },
      responses: {
        '204': { description: 'The event is durably stored.' },
        '410': { description: 'The endpoint no longer exists. The exchange disables it.' },
        ...Object.fromEntries(
          [...answers].map(([status, reasons]) => [
            String(status),
            { description: reasons.map(([, reason]) => reason).join(' '), ...ours('O-12') },
          ]),
        ),
      },
    },
  }
}

function exampleOf(name: string, schema: JsonObject): string | number {
  const value = webhookHeaders[name.toLowerCase()] ?? ''
  return schema['type'] === 'integer' ? Number(value) : value
}
