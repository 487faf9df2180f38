import { Type, type Static } from 'typebox'
import { PROTOCOL_VERSION, SIGNATURE_ALGORITHM } from '../wire.ts'
import { ours, proves } from './annotations.ts'
import { define } from './define.ts'

/** The common suffix of ids: a letter or digit, then up to 127 letters, digits, _ or -. */
const TAIL = '[A-Za-z0-9][A-Za-z0-9_-]{0,127}'
const tailInWords = 'then a letter or digit, then at most 127 letters, digits, "_" or "-"'

const identifier = (prefix: string) =>
  Type.String({
    pattern: `^${prefix}_${TAIL}$`,
    description: `an identifier that starts with "${prefix}_", ${tailInWords}`,
    ...proves('OBJ-01'),
  })

/** The `id` of an object: an objectId with the prefix of its type. */
export const idWithPrefix = identifier

/** If the specification says only "prefix", only the prefix is validated. */
export const startsWith = (prefix: string) =>
  Type.String({
    pattern: `^${prefix}_`,
    description: `a string that starts with "${prefix}_"`,
    ...proves('OBJ-01'),
  })

const OBJECT_PREFIXES = 'pkg|resp|thread|pol|story|audit'
export const OBJECT_TYPES = [
  'reasoning_package',
  'response_object',
  'loop_thread',
  'policy_envelope',
  'network_story',
  'audit_event',
] as const

export const objectId = define(
  'objectId',
  Type.String({
    pattern: `^(${OBJECT_PREFIXES})_${TAIL}$`,
    description: `an identifier that starts with one of ${OBJECT_PREFIXES.replaceAll('|', '_, ')}_, ${tailInWords}`,
    ...proves('OBJ-01'),
  }),
)

/** Visible ASCII (RFC 20) without `/ ? # %`, so that an id is one path segment (RFC 3986 section 3.3). */
const ID_CHARACTER = '[!"$&-.0->@-~]'
const ID_CHARACTER_BUT_DOT = '[!"$&-\\-0->@-~]'

/** The id of a package, policy receipt or receipt. The specification says only "string"; the limits are ours. */
export const resourceId = define(
  'resourceId',
  Type.String({
    // Every string of these characters but `.` and `..`, which RFC 3986 section 5.2.4 removes from a path.
    pattern: `^(?:${ID_CHARACTER_BUT_DOT}${ID_CHARACTER}*|\\.${ID_CHARACTER_BUT_DOT}${ID_CHARACTER}*|\\.\\.${ID_CHARACTER}+)$`,
    description: 'visible ASCII characters without "/", "?", "#" and "%", other than "." and ".."',
    ...ours('O-14'),
    ...proves('O-14'),
  }),
)
export const objectType = define('objectType', Type.Enum([...OBJECT_TYPES], proves('OBJ-01')))
export const protocolVersion = define('protocolVersion', Type.Literal(PROTOCOL_VERSION, proves('OBJ-01')))
export const schemaVersion = define(
  'schemaVersion',
  Type.String({
    pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$',
    description: 'three numbers with dots between them, such as 1.0.0',
    ...proves('OBJ-01'),
  }),
)
export const organizationId = define('organizationId', identifier('org'))
export const agentId = define('agentId', identifier('agent'))
export const humanId = define('humanId', identifier('user'))
export const threadId = define('threadId', identifier('thread'))

const MONTH_AND_DAY =
  '(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))'
const TIME_OF_DAY = '(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]|23:59:60)'

export const timestamp = define(
  'timestamp',
  Type.String({
    format: 'date-time',
    pattern: `^[0-9]{4}-${MONTH_AND_DAY}T${TIME_OF_DAY}(?:\\.[0-9]+)?(?:Z|\\+00:00)$`,
    description: 'a UTC time such as 2026-03-01T09:30:00Z (RFC 3339, with T, ending in Z or +00:00)',
    ...proves('OBJ-19'),
  }),
)
export const dateTime = define(
  'dateTime',
  Type.String({
    format: 'date-time',
    description: 'an RFC 3339 time with an offset, such as 2026-03-01T09:30:00Z or 2026-03-01T10:30:00+01:00',
    ...proves('OBJ-19'),
  }),
)

export const createdBy = define(
  'createdBy',
  Type.Object(
    { organization_id: organizationId, agent_id: agentId, human_id: Type.Optional(humanId) },
    { additionalProperties: false, ...proves('OBJ-02') },
  ),
)
export const trace = define(
  'trace',
  Type.Object(
    { correlation_id: identifier('corr'), idempotency_key: identifier('idem') },
    { additionalProperties: false, ...proves('OBJ-02') },
  ),
)

export const digest = define(
  'digest',
  Type.String({
    pattern: '^sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:$',
    description: 'a SHA-256 digest in RFC 9530 form: sha-256=:<44 characters of base64>:',
  }),
)

export const signature = define(
  'signature',
  Type.Object(
    {
      key_id: Type.String({ minLength: 1, ...proves({ minLength: 'O-14' }) }),
      algorithm: Type.Literal(SIGNATURE_ALGORITHM),
      signature: Type.String({
        pattern: '^(?:[A-Za-z0-9_-]{85}|[A-Za-z0-9+/]{85})[AQgw](?:==)?$',
        description: 'the 64 bytes r||s of an ES256 signature in base64url or base64, padded or not',
        ...ours('O-22'),
      }),
    },
    { additionalProperties: false },
  ),
)

export const transportMode = define('transportMode', Type.Enum(['native', 'ds_x']))

export type Digest = Static<typeof digest>
export type Signature = Static<typeof signature>
export type TransportMode = Static<typeof transportMode>
export type ObjectType = Static<typeof objectType>
