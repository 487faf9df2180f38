import { canonicalize, type Envelope, signEnvelope } from '@agent-exchange/crypto'
import { KEY, publicJwk, signingKey } from '../test-keys.ts'
import type { ValidVector } from '../vector-file.ts'
import { HEADER, signText } from './envelope-text.ts'
import { toDer } from './es256.ts'
import type { Story } from './story.ts'
import { base64url, fromBase64url, type Generated, invalid, valid } from './vectors.ts'

/** The rule defaults to PKG-01. */
type Row = [name: string, description: string, body: string, code: string, rule?: string]

const received = (body: string) => ({ body, verify_with: KEY.senderSigning })
const headerText = canonicalize(HEADER)

export async function exchangeEnvelope(story: Story): Promise<Generated> {
  const { key } = await signingKey(KEY.senderSigning)
  const envelope = await signEnvelope(story, { key, kid: KEY.senderSigning })
  const refused = [
    ...outer(envelope, canonicalize({ ...payloadOf(story), metadata: responseTo(story) })),
    ...(await headers(canonicalize(payloadOf(story)))),
    ...(await payloads(payloadOf(story))),
  ]
  return {
    profile: 'exchange-envelope',
    description: 'The Flattened JWS of a native package, as the exact text of the request body.',
    references: ['PKG-01', 'PKG-02', 'RFC 7515 section 7.2.2', 'RFC 7518 section 3.4'],
    vectors: [
      ...(await accepted(story, envelope)),
      ...refused.map(([name, description, body, code, rule = 'PKG-01']) =>
        invalid(name, description, received(body), { rule, code }),
      ),
      invalid(
        'other-key',
        'Verified with the key of somebody else.',
        { body: JSON.stringify(envelope), verify_with: KEY.strangerSigning },
        { rule: 'PKG-01', code: 'signature_mismatch' },
      ),
    ],
  }
}

function payloadOf({ metadata, jwe }: Story): Pick<Story, 'metadata' | 'jwe'> {
  return { metadata, jwe }
}

function responseTo({ metadata }: Story): Story['metadata'] {
  return {
    ...metadata,
    package_id: 'pkg_seat_rails_2',
    responds_to_package_id: metadata.package_id,
    sender_org_id: metadata.recipient_org_id,
    sender_agent_id: metadata.recipient_agent_id,
    recipient_org_id: metadata.sender_org_id,
    recipient_agent_id: metadata.sender_agent_id,
    policy_receipt_id: 'polrcpt_seat_rails_2',
  }
}

async function accepted(story: Story, envelope: Envelope): Promise<ValidVector[]> {
  const output = { kid: KEY.senderSigning, metadata: story.metadata }
  const spaced = await signText(headerText, JSON.stringify(payloadOf(story), undefined, 2))
  const { key } = await signingKey(KEY.recipientSigning)
  const metadata = responseTo(story)
  const response = await signEnvelope({ metadata, jwe: story.jwe }, { key, kid: KEY.recipientSigning })
  return [
    valid('signed', 'Header and payload are canonical.', received(JSON.stringify(envelope)), output),
    valid('indented', 'Line breaks outside.', received(JSON.stringify(envelope, undefined, 2)), output),
    valid('payload-spaced', 'Line breaks inside: the payload is signed as it is.', received(spaced), output),
    valid(
      'response',
      'The recipient answers, and names the package that it answers.',
      { body: JSON.stringify(response), verify_with: KEY.recipientSigning },
      { kid: KEY.recipientSigning, metadata },
    ),
  ]
}

function outer(envelope: Envelope, other: string): Row[] {
  const changed = (change: object) => JSON.stringify({ ...envelope, ...change })
  const raw = fromBase64url(envelope.signature)
  const der = toDer(raw.subarray(0, 32), raw.subarray(32))
  return [
    [
      'payload-replaced',
      'Another payload under the same signature.',
      changed({ payload: base64url(other) }),
      'signature_mismatch',
    ],
    ['unprotected-header', 'An unprotected header.', changed({ header: {} }), 'envelope_members'],
    [
      'general',
      'The General serialization.',
      JSON.stringify({ payload: envelope.payload, signatures: [] }),
      'envelope_members',
    ],
    [
      'compact',
      'The Compact serialization.',
      JSON.stringify(Object.values(envelope).join('.')),
      'envelope_members',
    ],
    ['member-twice', 'payload twice.', changed({}).replace('{', '{"payload":"",'), 'json_duplicate_member'],
    ['padded', 'Base64 padding.', changed({ payload: `${envelope.payload}=` }), 'base64url_invalid'],
    ['der', 'The signature as ASN.1 DER.', changed({ signature: base64url(der) }), 'signature_encoding'],
    [
      '63-bytes',
      'The signature lacks a byte.',
      changed({ signature: base64url(raw.subarray(1)) }),
      'signature_encoding',
    ],
    ['trailing-text', 'Text after the object.', `${changed({})}{}`, 'json_syntax'],
  ]
}

function headers(payload: string): Promise<Row[]> {
  const { kid: _kid, ...noKid } = HEADER
  const rows: [string, string, object, string][] = [
    ['algorithm-none', 'The algorithm none.', { ...HEADER, alg: 'none' }, 'envelope_algorithm'],
    ['algorithm-hmac', 'A symmetric algorithm.', { ...HEADER, alg: 'HS256' }, 'envelope_algorithm'],
    ['other-type', 'The type of a token.', { ...HEADER, typ: 'JWT' }, 'envelope_type'],
    [
      'other-content-type',
      'Another content type.',
      { ...HEADER, cty: 'application/json' },
      'envelope_content_type',
    ],
    ['other-version', 'Another protocol version.', { ...HEADER, syv: 'svc/2.0' }, 'envelope_version'],
    ['kid-missing', 'No kid.', noKid, 'envelope_header_members'],
    ['kid-empty', 'An empty kid.', { ...HEADER, kid: '' }, 'envelope_key_id'],
    [
      'critical',
      'An unencoded payload (RFC 7797).',
      { ...HEADER, crit: ['b64'], b64: false },
      'envelope_header_members',
    ],
    ['compressed', 'Compression.', { ...HEADER, zip: 'DEF' }, 'envelope_header_members'],
    [
      'key-inside',
      'The key to verify with, brought along.',
      { ...HEADER, jwk: publicJwk(KEY.senderSigning) },
      'envelope_header_members',
    ],
    [
      'key-address',
      'An address to fetch the key from.',
      { ...HEADER, jku: 'https://sender.example/jwks' },
      'envelope_header_members',
    ],
    ['certificate', 'A certificate chain.', { ...HEADER, x5c: [] }, 'envelope_header_members'],
  ]
  const signed = rows.map(async ([name, description, header, code]): Promise<Row> => [
    name,
    description,
    await signText(canonicalize(header), payload),
    code,
  ])
  const twice = async (): Promise<Row> => [
    'header-member-twice',
    'alg twice, once escaped.',
    await signText(headerText.replace('{', String.raw`{"\u0061lg":"none",`), payload),
    'json_duplicate_member',
  ]
  return Promise.all([...signed, twice()])
}

function payloads(payload: Pick<Story, 'metadata' | 'jwe'>): Promise<Row[]> {
  const text = canonicalize(payload)
  const described = (metadata: object) => canonicalize({ ...payload, metadata })
  const { policy_receipt_id: _receipt, ...incomplete } = payload.metadata
  const rows: Row[] = [
    [
      'payload-extra',
      'A member beside metadata and jwe.',
      canonicalize({ ...payload, note: '' }),
      'envelope_payload_members',
    ],
    [
      'payload-without-content',
      'No jwe.',
      canonicalize({ metadata: payload.metadata }),
      'envelope_payload_members',
    ],
    [
      'payload-member-twice',
      'metadata twice.',
      text.replace('{', '{"metadata":{},'),
      'json_duplicate_member',
    ],
    ['payload-not-json', 'No JSON.', 'plain text', 'json_syntax'],
    [
      'plaintext-inside',
      'Content that is not sealed.',
      canonicalize({ ...payload, jwe: { plaintext: '' } }),
      'sealed_members',
    ],
    ['metadata-incomplete', 'No policy_receipt_id.', described(incomplete), 'schema_invalid', 'API-01'],
    [
      'metadata-extra',
      'A member of its own.',
      described({ ...payload.metadata, note: '' }),
      'schema_invalid',
      'O-29',
    ],
  ]
  return Promise.all(
    rows.map(async ([name, description, changed, ...broken]): Promise<Row> => {
      return [name, description, await signText(headerText, changed), ...broken]
    }),
  )
}
