import {
  canonicalize,
  signDetached,
  signManifest,
  signPolicyReceipt,
  signSkillRelease,
} from '@agent-exchange/crypto'
import type { DetachedSignature, SignatureMember, SigningKey } from '@agent-exchange/crypto'
import { PACKAGE_HEAD_TYPE } from '@agent-exchange/log'
import type { ProfileName } from '../profiles/index.ts'
import { KEY, signingKey } from '../test-keys.ts'
import { detachedRefusals } from './detached-refusals.ts'
import { signatureSpellings } from './signature-spellings.ts'
import type { Story } from './story.ts'
import { type Generated, invalid, valid } from './vectors.ts'

type Row = [name: string, description: string, body: object]

interface Document {
  readonly profile: ProfileName
  readonly description: string
  readonly references: readonly string[]
  readonly rule: string
  readonly member: SignatureMember
  readonly keyId: string
  readonly sign: (body: object, key: SigningKey) => Promise<DetachedSignature>
  readonly body: object
  readonly altered: object
  /** Additional valid bodies. */
  readonly alsoValid: readonly Row[]
  /** Bodies with a valid signature that violate the schema. */
  readonly signedButInvalid: readonly [...Row, rule: string][]
}

async function signedDocument(document: Document): Promise<Generated> {
  const { profile, description, references, rule, member, body, altered } = document
  const signer = await signingKey(document.keyId)
  const input = { verify_with: document.keyId }
  const signature = await document.sign(body, signer)
  const carry = async (unsigned: object) => ({
    object: { ...unsigned, [member]: await document.sign(unsigned, signer) },
    ...input,
  })
  const reversed = Object.fromEntries(Object.entries({ ...body, [member]: signature }).toReversed())
  const vectors = [
    valid(
      'signed',
      'Signed by its author.',
      { object: { ...body, [member]: signature }, ...input },
      { signed_text: canonicalize(body) },
    ),
    valid(
      'other-order',
      'Members in another order: the same canonical text.',
      { object: reversed, ...input },
      { signed_text: canonicalize(body) },
    ),
  ]
  for (const [name, says, respelled] of signatureSpellings(signature)) {
    const object = { ...body, [member]: respelled }
    vectors.push(valid(name, says, { object, ...input }, { signed_text: canonicalize(body) }))
  }
  for (const [name, says, other] of document.alsoValid) {
    vectors.push(valid(name, says, await carry(other), { signed_text: canonicalize(other) }))
  }
  const stranger = KEY.strangerSigning
  const refused = await detachedRefusals({
    rule,
    member,
    unsigned: body,
    signature,
    altered,
    signer,
    stranger,
    input,
  })
  for (const [name, says, other, broken] of document.signedButInvalid) {
    refused.push(invalid(name, says, await carry(other), { rule: broken, code: 'schema_invalid' }))
  }
  return { profile, description, references, vectors: [...vectors, ...refused] }
}

export function policyReceipt({ policyReceipt: body }: Story): Promise<Generated> {
  const [first, ...others] = body.checks
  return signedDocument({
    profile: 'policy-receipt',
    description: 'A policy receipt, signed over the RFC 8785 form of everything but `signature`.',
    references: ['POL-01', 'POL-02', 'RFC 8785', 'RFC 7518 section 3.4'],
    rule: 'POL-01',
    member: 'signature',
    keyId: KEY.senderSigning,
    sign: signPolicyReceipt,
    body,
    altered: { content_digest: body.policy_digest },
    alsoValid: [
      [
        'check-failed',
        'A failed check: signed and kept, though not eligible for a package (POL-03).',
        { ...body, checks: [{ ...first, outcome: 'failed' }, ...others] },
      ],
      ['no-approval', 'No human approval was required.', { ...body, human_approval: { required: false } }],
    ],
    signedButInvalid: [
      ['four-checks', 'One of the five checks is missing.', { ...body, checks: others }, 'POL-02'],
      [
        'check-twice',
        'One check twice, another not at all.',
        { ...body, checks: [others[0], ...others] },
        'POL-02',
      ],
      [
        'unknown-member',
        'A member of its own, which could hold content.',
        { ...body, source_rows: [] },
        'POL-02',
      ],
      [
        'local-time',
        'A time that is not UTC.',
        { ...body, evaluated_at: '2026-03-02T08:59:00+01:00' },
        'OBJ-19',
      ],
    ],
  })
}

export function dsxManifest({ manifest: body }: Story): Promise<Generated> {
  const { contract_agreement_id: _agreement, ...edc } = body.edc
  return signedDocument({
    profile: 'dsx-manifest',
    description: 'The control manifest of a connector transfer, signed without `sender_signature`.',
    references: ['PKG-03', 'RFC 8785', 'RFC 7518 section 3.4'],
    rule: 'PKG-03',
    member: 'sender_signature',
    keyId: KEY.senderSigning,
    sign: signManifest,
    body,
    altered: { edc: { ...body.edc, asset_id: 'asset_other' } },
    alsoValid: [
      ['fewer-references', 'No contract agreement is named.', { ...body, edc }],
      [
        'more-references',
        'A transfer has started.',
        { ...body, edc: { ...body.edc, transfer_process_id: 'transfer_1' } },
      ],
    ],
    signedButInvalid: [
      [
        'payload-inside',
        'A payload in the manifest, which has no place for one.',
        { ...body, payload: 'AAAA' },
        'PKG-03',
      ],
      [
        'other-mode-in-metadata',
        'Metadata that name the other mode.',
        { ...body, metadata: { ...body.metadata, transport_mode: 'native' } },
        'PKG-03',
      ],
      ['unknown-reference', 'A reference of its own.', { ...body, edc: { ...edc, bucket: 'x' } }, 'O-29'],
    ],
  })
}

export function packageHead({ metadata }: Story): Promise<Generated> {
  const body = {
    type: PACKAGE_HEAD_TYPE,
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    position: 5,
    link: 'ab'.repeat(32),
    log: { origin: 'exchange.example/log', size: 1_234 },
    stated_at: '2026-03-02T09:00:00.000Z',
  }
  return signedDocument({
    profile: 'package-head',
    description:
      'What the exchange states about the end of the chain of a package, signed without `signature`.',
    references: ['docs/transparency-format.md', 'RFC 8785', 'RFC 7518 section 3.4'],
    rule: 'O-07',
    member: 'signature',
    keyId: KEY.platformRelease,
    sign: (head, { key, keyId }) => signDetached(head, { member: 'signature', key, keyId }),
    body,
    altered: { position: 4 },
    alsoValid: [
      [
        'empty-log',
        'No checkpoint was published before the statement.',
        { ...body, log: { ...body.log, size: 0 } },
      ],
    ],
    signedButInvalid: [
      ['position-zero', 'Positions start at 1.', { ...body, position: 0 }, 'O-07'],
      ['short-link', 'A link has 32 bytes.', { ...body, link: 'ab' }, 'O-07'],
      ['other-type', 'A statement of another type.', { ...body, type: 'aex-package-head/2' }, 'O-07'],
      ['unknown-member', 'A member that the format does not know.', { ...body, note: '' }, 'O-07'],
    ],
  })
}

export function skillRelease({ release: body }: Story): Promise<Generated> {
  return signedDocument({
    profile: 'skill-release',
    description: 'A skill release, signed by the platform without `manifest_signature` (open point O-06).',
    references: ['ID-10', 'O-06', 'RFC 8785', 'RFC 7518 section 3.4'],
    rule: 'ID-10',
    member: 'manifest_signature',
    keyId: KEY.platformRelease,
    sign: signSkillRelease,
    body,
    altered: { version: '1.4.1' },
    alsoValid: [
      [
        'supersedes',
        'It replaces an earlier version.',
        { ...body, update_policy: { ...body.update_policy, supersedes: '1.3.0' } },
      ],
    ],
    signedButInvalid: [
      [
        'local-time',
        'A time that is not UTC.',
        { ...body, published_at: '2026-02-20T13:00:00+01:00' },
        'OBJ-19',
      ],
    ],
  })
}
