import type { AgentContext } from '../context.ts'
import type { Alteration, Crafting } from './crafted.fixture.ts'

/** The attacks on whoever opens a package. Openers in other languages have to pass the same lists. */
const anchor = (from: AgentContext) => ({
  organization_id: from.identity.organizationId,
  agent_id: from.identity.agentId,
})
const bytes = (text: string) => new TextEncoder().encode(text)

/** A sender with real keys who says inside something else than outside. */
export const wrongInside = (
  acme: AgentContext,
  eve: AgentContext,
): Record<string, [crafting: Crafting, pointer: string]> => ({
  thread: [{ object: (o) => ({ ...o, thread_id: 'thread_other' }) }, '/thread_id'],
  author: [{ object: (o) => ({ ...o, created_by: anchor(eve) }) }, '/created_by/organization_id'],
  'sender organization': [
    { object: (o) => ({ ...o, sender: { ...anchor(acme), organization_id: 'org_other' } }) },
    '/sender/organization_id',
  ],
  recipients: [
    { object: (o) => ({ ...o, recipients: [{ organization_id: 'org_x', role: 'r', required: true }] }) },
    '/recipients',
  ],
  policy: [{ receipt: { policy_id: 'pol_other' } }, '/policy_envelope/policy_id'],
  approval: [
    {
      object: (o) => ({
        ...o,
        policy_envelope: {
          ...(o['policy_envelope'] as object),
          human_approval: { required: true, approval_id: 'a' },
        },
      }),
    },
    '/policy_envelope/human_approval/required',
  ],
  'additional data': [
    { aad: bytes('{"format":"aex-aad/1","metadata":{"package_id":"pkg_other"}}') },
    'aad.package_id',
  ],
})

/** What is inside is not one valid object. */
export const INVALID_INSIDE: readonly Crafting[] = [
  { object: (o) => ({ ...o, hash: 'x' }) },
  { object: (o) => ({ ...o, confidence: { score: 2, basis: 'x' } }) },
  { plaintext: bytes('not json') },
  { plaintext: bytes('{"object_type":"reasoning_package","object_type":"policy_envelope"}') },
  { plaintext: bytes('[]') },
]

export const CONTENT = /^\/content\/packages\//
export const PACKAGE = /^\/v1\/packages\/[^/]+$/
export const RECEIPT = /^\/v1\/policy-receipts\//

export const inPayload = (
  change: (payload: { metadata: Record<string, string>; jwe: Record<string, string> }) => object,
) => {
  const alter: Alteration = (text) => {
    const envelope = JSON.parse(text) as Record<string, string>
    const payload = JSON.parse(Buffer.from(envelope['payload'] ?? '', 'base64url').toString())
    const changed = Buffer.from(JSON.stringify(change(payload))).toString('base64url')
    return JSON.stringify({ ...envelope, payload: changed })
  }
  return alter
}
const flipped = (text = '') => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
export const inJson =
  (change: (value: Record<string, unknown>) => object): Alteration =>
  (text) =>
    JSON.stringify(change(JSON.parse(text) as Record<string, unknown>))

/** The exchange alters one place of one answer. */
export const LIES: Record<string, [path: RegExp, alter: Alteration, code: string, receipts: string[]]> = {
  'another ciphertext': [
    CONTENT,
    inPayload(({ metadata, jwe }) => ({ metadata, jwe: { ...jwe, ciphertext: flipped(jwe['ciphertext']) } })),
    'digest_mismatch',
    ['rejected'],
  ],
  'another expiry in the envelope': [
    CONTENT,
    inPayload(({ metadata, jwe }) => ({
      metadata: { ...metadata, expires_at: '2099-01-01T00:00:00Z' },
      jwe,
    })),
    'content_mismatch',
    ['rejected'],
  ],
  'an envelope that was serialized again': [
    CONTENT,
    inPayload(({ metadata, jwe }) => ({ metadata, jwe })),
    'signature_invalid',
    ['rejected'],
  ],
  'another signature': [
    CONTENT,
    inJson((envelope) => ({ ...envelope, signature: flipped(String(envelope['signature'])) })),
    'signature_invalid',
    ['rejected'],
  ],
  'a further member of the envelope': [
    CONTENT,
    inJson((envelope) => ({ ...envelope, header: {} })),
    'signature_invalid',
    ['rejected'],
  ],
  'half of the content': [
    CONTENT,
    (text) => text.slice(0, text.length / 2),
    'signature_invalid',
    ['rejected'],
  ],
  'content of another package': [
    PACKAGE,
    inJson((resource) => ({ ...resource, package_id: 'pkg_other' })),
    'exchange_answer_unreadable',
    [],
  ],
  'another thread beside the metadata': [
    PACKAGE,
    inJson((resource) => ({ ...resource, thread_id: 'thread_other' })),
    'content_mismatch',
    ['rejected'],
  ],
  'another skill in the metadata': [
    PACKAGE,
    inJson((r) => ({ ...r, metadata: { ...(r['metadata'] as object), skill_version: '9.9.9' } })),
    'content_mismatch',
    ['rejected'],
  ],
  'another statement in the policy receipt': [
    RECEIPT,
    inJson((r) => ({ ...r, receipt: { ...(r['receipt'] as object), statement: 'All is well.' } })),
    'signature_invalid',
    ['rejected'],
  ],
  'an answer that is none': [CONTENT, () => undefined, 'exchange_unreachable', []],
}
