import { Type, type Static } from 'typebox'
import { inUse, ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { agentId, organizationId, timestamp } from '../schema/shared.ts'
import { name, request, resource, text } from './forms.ts'

const coordinate = Type.String({
  pattern: '^[A-Za-z0-9_-]+$',
  description: 'a coordinate in base64url without padding (RFC 7518 section 6.2.1)',
})
const point = {
  kty: Type.Literal('EC'),
  crv: Type.String({ ...ours('O-28'), ...inUse('P-256'), description: 'the name of the curve, P-256' }),
  x: coordinate,
  y: coordinate,
}

/** RFC 7518 sections 6.2.2, 6.3.2 and 6.4. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

export const publicJwk = define('PublicJwk', resource(point, proves('ID-06')))
const publicJwkInput = define(
  'PublicJwkInput',
  Type.Object(
    { ...point },
    {
      description:
        'a public JWK; other public members (RFC 7517 section 4), whatever they say, are accepted and not kept, and no address in them is fetched',
      propertyNames: {
        not: { enum: PRIVATE_MEMBERS },
        description: `a public JWK, without ${PRIVATE_MEMBERS.join(', ')}`,
        ...proves('ID-06'),
      },
      ...proves('ID-06'),
    },
  ),
)

const keyFields = {
  key_id: name,
  use: Type.Enum(['signing', 'encryption']),
  format: Type.Literal('jwk'),
}
const replaces = { replaces_key_id: Type.Optional(name) }

/** A key as it is registered. */
export const publicKeyRequest = define(
  'PublicKeyRequest',
  request(
    { ...keyFields, public_key: publicJwkInput, valid_from: timestamp, ...replaces },
    proves({ default: 'ID-03', additionalProperties: 'O-29' }),
  ),
)

/** A key in a directory. */
export const publicKey = define(
  'PublicKey',
  resource({
    ...keyFields,
    public_key: publicJwk,
    valid_from: timestamp,
    ...replaces,
    status: Type.String({ ...ours('O-05'), ...inUse('active', 'retiring', 'retired', 'revoked') }),
    registered_at: timestamp,
    valid_until: Type.Optional(timestamp),
    revoked_at: Type.Optional(timestamp),
    invalid_from: Type.Optional(timestamp),
  }),
)

export const keyRevocationRequest = define(
  'KeyRevocationRequest',
  request(
    { invalid_from: timestamp, reason_code: text, evidence_reference: text },
    proves({ default: 'ID-04', additionalProperties: 'O-29' }),
  ),
)

export const keyDirectory = define(
  'KeyDirectoryResponse',
  resource({
    directory_version: text,
    generated_at: timestamp,
    organization_id: organizationId,
    agent_id: agentId,
    keys: Type.Array(publicKey),
  }),
)

export const notificationKeyDirectory = define(
  'NotificationKeyDirectory',
  resource({ directory_version: text, generated_at: timestamp, keys: Type.Array(publicKey) }),
)

export type PublicJwk = Static<typeof publicJwk>
export type PublicKey = Static<typeof publicKey>
export type PublicKeyRequest = Static<typeof publicKeyRequest>
export type KeyRevocationRequest = Static<typeof keyRevocationRequest>
export type KeyDirectory = Static<typeof keyDirectory>
export type NotificationKeyDirectory = Static<typeof notificationKeyDirectory>
