/** Names and constants of the wire format. */

export const PROTOCOL_VERSION = 'svc/1.0'
export const API_BASE_PATH = '/v1'
export const API_DESCRIPTION_VERSION = '1.0.0'

export const MEDIA_TYPE = {
  json: 'application/json',
  problem: 'application/problem+json',
  exchangeJws: 'application/svc+jws',
  exchangeEnvelope: 'application/svc.exchange-envelope+json',
  sealedJwe: 'application/svc+jwe',
  reasoningPackage: 'application/svc.reasoning-package+json',
} as const

/** The only signature algorithm of the protocol: ECDSA on P-256 with SHA-256. */
export const SIGNATURE_ALGORITHM = 'ES256'
export const CONTENT_ENCRYPTION = 'A256GCM'
export const KEY_WRAPPING = 'ECDH-ES+A256KW'

export const WEBHOOK_SIGNATURE = {
  label: 'sig1',
  algorithm: 'ecdsa-p256-sha256',
  tag: 'svc-webhook',
  maximumLifetimeSeconds: 300,
  components: [
    '@method',
    '@authority',
    '@path',
    'content-digest',
    'content-type',
    'svc-delivery-id',
    'svc-event-id',
    'svc-delivery-attempt',
  ],
} as const

export const HEADER = {
  correlationId: 'X-Correlation-ID',
  idempotencyKey: 'Idempotency-Key',
  deliveryId: 'svc-delivery-id',
  eventId: 'svc-event-id',
  deliveryAttempt: 'svc-delivery-attempt',
} as const

/** Minimum delay before attempts 2 to 7, in seconds after the previous failure. */
export const RETRY_DELAYS_SECONDS = [30, 120, 600, 3_600, 21_600, 86_400] as const
export const MAXIMUM_DELIVERY_ATTEMPTS = 7
export const MAXIMUM_RETRY_AFTER_SECONDS = 86_400
