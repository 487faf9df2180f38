import type { SealedPackage } from '@agent-exchange/crypto'
import type { PackageScript, ScriptedPackages } from '../scripted-packages.ts'

export interface OpeningRule {
  readonly name: string
  readonly ids: readonly string[]
  readonly title: string
  readonly scripts: (packages: ScriptedPackages) => readonly PackageScript[]
  /** What the specification leaves open: noted, and never judged. */
  readonly open?: { readonly point: string; readonly what: string; readonly script: PackageScript }
}

type Members = Record<string, unknown>
const bytes = (text: string) => new TextEncoder().encode(text)
const flipped = (text = '') => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`
const inObject = (change: (object: Members) => Members): PackageScript => ({ object: change })
const inside = (name: string, change: object) =>
  inObject((object) => ({ ...object, [name]: { ...(object[name] as object), ...change } }))
const protectedHeader = (jwe: SealedPackage, change: object) => {
  const header = JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()) as object
  return { ...jwe, protected: Buffer.from(JSON.stringify({ ...header, ...change })).toString('base64url') }
}
const rule = (
  name: string,
  ids: readonly string[],
  title: string,
  scripts: readonly PackageScript[] | OpeningRule['scripts'],
  open?: OpeningRule['open'],
): OpeningRule => ({
  name,
  ids,
  title,
  scripts: typeof scripts === 'function' ? scripts : () => scripts,
  ...(open && { open }),
})
const withoutMember = (name: string) =>
  inObject((object) => Object.fromEntries(Object.entries(object).filter(([each]) => each !== name)))

/** What an agent must not open. */
export const REFUSED: readonly OpeningRule[] = [
  rule(
    'envelope-signature',
    ['PKG-01'],
    'an envelope whose signature does not verify stays closed',
    (packages) => [
      { envelope: (envelope) => ({ ...envelope, signature: flipped(envelope['signature']) }) },
      { envelope: (envelope) => ({ ...envelope, payload: flipped(envelope['payload']) }) },
      { header: {}, signedBy: { ...packages.keys.unregistered, keyId: packages.signingKeyId } },
    ],
    // The sender signed the metadata in the envelope, not the resource that repeats them.
    {
      point: 'O-35',
      what: 'a PackageResource with other metadata than the signed envelope',
      script: {
        resource: (resource) => ({
          ...resource,
          metadata: { ...(resource['metadata'] as object), skill_version: '9.9.9' },
        }),
      },
    },
  ),
  rule('envelope-header', ['PKG-01'], 'an envelope with another header stays closed', [
    { header: { alg: 'none' } },
    { header: { typ: 'application/other+jws' } },
    { header: { cty: 'application/other+json' } },
    { header: { syv: 'svc/9.9' } },
  ]),
  rule(
    'sender-key',
    ['ID-05'],
    'a key of somebody else, for another use, or revoked before does not count',
    (packages) => [
      { signedBy: packages.keys.unregistered },
      { signedBy: packages.keys.revoked },
      { signedBy: packages.keys.forEncryption },
    ],
  ),
  rule('digest', ['PKG-02'], 'content with another digest stays closed', [
    { metadata: { content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' } },
  ]),
  rule('recipients', ['PKG-02'], 'a JWE with another number of recipients stays closed', [
    { jwe: (jwe) => ({ ...jwe, recipients: [...jwe.recipients, jwe.recipients[0]] }) },
    { jwe: (jwe) => ({ ...jwe, recipients: jwe.recipients.slice(1) }) },
  ]),
  rule('jwe', ['PKG-02'], 'a JWE with another header, tag or ciphertext stays closed', [
    { jwe: (jwe) => protectedHeader(jwe, { enc: 'A128GCM' }) },
    { jwe: (jwe) => protectedHeader(jwe, { syv: 'svc/9.9' }) },
    { jwe: (jwe) => ({ ...jwe, tag: flipped(jwe.tag) }) },
    { jwe: (jwe) => ({ ...jwe, ciphertext: flipped(jwe.ciphertext) }) },
    { jwe: (jwe) => ({ ...jwe, aad: flipped(jwe.aad) }) },
  ]),
  rule(
    'receipt-signature',
    ['POL-01'],
    'a policy receipt that its sender did not sign is refused',
    (packages) => [
      { shownReceipt: (receipt) => ({ ...receipt, statement: 'All is well.' }) },
      { receiptSignedBy: { ...packages.keys.unregistered, keyId: packages.signingKeyId } },
      { receiptSignedBy: packages.keys.unregistered },
    ],
  ),
  rule('receipt-outcome', ['POL-03'], 'a policy receipt with a failed check or no approval is refused', [
    { receipt: { checks: failing() } },
    { receipt: { human_approval: { required: true, outcome: 'pending' } } },
  ]),
  rule('receipt-binding', ['POL-04'], 'a policy receipt of another package, or from after it, is refused', [
    { receipt: { package_id: 'pkg_other' } },
    { receipt: { recipient_agent_id: 'agent_other' } },
    { receipt: { skill_version: '9.9.9' } },
    { receipt: { content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' } },
    { receipt: { evaluated_at: '2099-01-01T00:00:00Z' } },
    { receipt: { policy_id: 'pol_other' } },
  ]),
  rule('envelope-fields', ['OBJ-03'], 'an object without a common member is refused', [
    withoutMember('protocol_version'),
    withoutMember('created_by'),
    withoutMember('trace'),
  ]),
  rule('unknown-member', ['OBJ-04'], 'an object with an unknown top-level member is refused', [
    inObject((object) => ({ ...object, hash: 'x' })),
    inObject((object) => ({ ...object, customer_name: 'x' })),
  ]),
  rule('no-package', ['OBJ-05'], 'content that is no valid package is refused', [
    { plaintext: bytes('no json') },
    { plaintext: bytes('[]') },
    inObject((object) => ({ ...object, facts: [] })),
    inObject((object) => ({ ...object, package_type: 'something_else' })),
  ]),
  rule('score', ['OBJ-11'], 'a confidence score above 1 is refused', [inside('confidence', { score: 2 })]),
  rule('deadline', ['OBJ-13'], 'a deadline before the creation is refused', [
    inside('response_required', { deadline: '2020-01-01T00:00:00Z' }),
  ]),
  rule('retention', ['OBJ-15'], 'a retention of no day is refused', [
    inside('boundaries', { retention_days: 0 }),
  ]),
  rule('no-policy', ['OBJ-16'], 'a package without policy or approval id is refused', [
    withoutMember('policy_envelope'),
    inside('policy_envelope', { human_approval: { required: true, approval_id: '' } }),
  ]),
]

/** What an agent has to open, although it is unusual. */
export const OPENED: readonly OpeningRule[] = [
  rule('usual', ['PKG-08'], 'a right package opens, and its receipts are signed', [{}]),
  rule('additional-data', ['PKG-02'], 'additional data of any content are accepted', [
    { aad: bytes('{"package_id":"pkg_other"}') },
    { aad: bytes('x') },
  ]),
  rule('recipient-first', ['PKG-02'], 'the order of the two recipients does not matter', [
    { jwe: (jwe) => ({ ...jwe, recipients: jwe.recipients.toReversed() }) },
  ]),
  rule('other-object-id', ['PKG-01'], 'an object with another id than its package opens', [
    { objectId: 'pkg_written_earlier' },
  ]),
  rule('longest-ids', ['OBJ-01'], 'identifiers of the greatest length are accepted', (packages) => [
    { metadata: { package_id: packages.longId('pkg'), thread_id: packages.longId('thread') } },
  ]),
  rule('no-approval', ['POL-03'], 'a package that needs no approval opens', [
    {
      ...inside('policy_envelope', { human_approval: { required: false, approval_id: 'none' } }),
      receipt: { human_approval: { required: false, outcome: 'not_required' } },
    },
  ]),
  rule('other-offset', ['OBJ-19'], 'a deadline with another offset is accepted', [
    inside('response_required', { deadline: '2099-01-01T09:00:00+09:00' }),
  ]),
  rule('free-members', ['OBJ-05'], 'members below the top that the rules leave open are accepted', [
    inside('business_context', { affected_scope: { deep: { list: [1, null, 'x'] } } }),
    inside('reasoning', { drivers: [] }),
  ]),
]

function failing() {
  const ids = [
    'object_schema',
    'skill_profile',
    'prohibited_disclosure',
    'recipient_authorization',
    'retention_and_forwarding',
  ]
  return ids.map((check_id, at) => ({ check_id, outcome: at === 2 ? 'failed' : 'passed' }))
}
