import { canonicalize, type SealedRecipient } from '@agent-exchange/crypto'
import { KEY, privateJwk, publicJwk } from '../test-keys.ts'
import type { Story } from './story.ts'
import { base64url, flipped, fromBase64url, type Generated, invalid, valid } from './vectors.ts'

type Row = [name: string, description: string, jwe: unknown, code: string]

const open = (jwe: unknown) => ({ jwe, open_with: KEY.recipientEncryption })

export function sealedPackage({ jwe, plaintext, aad }: Story): Generated {
  const output = { plaintext, aad: base64url(aad) }
  return {
    profile: 'sealed-package',
    description: 'The General JWE of a native package, sealed to sender and recipient, and what it holds.',
    references: ['PKG-02', 'RFC 7516 section 7.2.1', 'RFC 7518 sections 4.6 and 5.3', 'O-17', 'O-35'],
    vectors: [
      valid('recipient', 'Opened by the recipient.', open(jwe), output),
      valid('sender', 'Opened by the sender.', { jwe, open_with: KEY.senderEncryption }, output),
      valid(
        'other-order',
        'Members in another order.',
        open(Object.fromEntries(Object.entries(jwe).toReversed())),
        output,
      ),
      valid(
        'same-kid',
        'Both slots carry one kid, since a key id is unique within one agent only: one of them opens.',
        open({ ...jwe, recipients: jwe.recipients.map((slot) => renamed(slot, KEY.recipientEncryption)) }),
        output,
      ),
      invalid(
        'stranger',
        'Opened by somebody it is not sealed to.',
        { jwe, open_with: KEY.strangerEncryption },
        {
          rule: 'PKG-02',
          code: 'sealed_not_recipient',
        },
      ),
      ...[...altered(jwe), ...malformed(jwe), ...malformedRecipients(jwe)].map(
        ([name, description, value, code]) =>
          invalid(name, description, open(value), { rule: 'PKG-02', code }),
      ),
    ],
  }
}

/** The header of a recipient is not authenticated (RFC 7516 section 7.2.1), so anyone can change its kid. */
function renamed(slot: SealedRecipient, kid: string): SealedRecipient {
  return { ...slot, header: { ...slot.header, kid } }
}

/** Well-formed, but altered after sealing. */
function altered(jwe: Story['jwe']): Row[] {
  const [sender, recipient] = jwe.recipients
  const code = 'sealed_not_opened'
  const spaced = base64url(Buffer.from(fromBase64url(jwe.protected)).toString().replace(',', ', '))
  const second = (change: object) => ({ ...jwe, recipients: [sender, { ...recipient, ...change }] })
  return [
    [
      'ciphertext-altered',
      'A bit of the ciphertext changed.',
      { ...jwe, ciphertext: flipped(jwe.ciphertext) },
      code,
    ],
    ['tag-altered', 'A bit of the tag changed.', { ...jwe, tag: flipped(jwe.tag) }, code],
    ['iv-altered', 'A bit of the iv changed.', { ...jwe, iv: flipped(jwe.iv) }, code],
    ['aad-altered', 'A bit of the aad changed.', { ...jwe, aad: flipped(jwe.aad) }, code],
    [
      'header-respaced',
      'The protected header with a space more: same meaning, other bytes.',
      { ...jwe, protected: spaced },
      code,
    ],
    [
      'key-altered',
      'A bit of the wrapped key changed.',
      second({ encrypted_key: flipped(recipient.encrypted_key) }),
      code,
    ],
    [
      'other-epk',
      'The ephemeral key of the other slot.',
      second({ header: { ...recipient.header, epk: sender.header.epk } }),
      code,
    ],
    [
      'kids-swapped',
      'Each slot names the key of the other.',
      { ...jwe, recipients: [renamed(sender, recipient.header.kid), renamed(recipient, sender.header.kid)] },
      code,
    ],
  ]
}

function malformed(jwe: Story['jwe']): Row[] {
  const header: object = JSON.parse(Buffer.from(fromBase64url(jwe.protected)).toString())
  const withHeader = (change: object) => ({
    ...jwe,
    protected: base64url(canonicalize({ ...header, ...change })),
  })
  const { aad: _aad, ...withoutAad } = jwe
  return [
    [
      'compact',
      'Not the JSON serialization.',
      `${jwe.protected}..${jwe.iv}.${jwe.ciphertext}.${jwe.tag}`,
      'sealed_members',
    ],
    ['unprotected-header', 'A shared unprotected header.', { ...jwe, unprotected: {} }, 'sealed_members'],
    ['aad-missing', 'No aad.', withoutAad, 'sealed_members'],
    ['aad-empty', 'An empty aad.', { ...jwe, aad: '' }, 'sealed_aad'],
    [
      'header-compressed',
      'Compression before encryption.',
      withHeader({ zip: 'DEF' }),
      'sealed_header_members',
    ],
    ['header-critical', 'A critical extension.', withHeader({ crit: ['syv'] }), 'sealed_header_members'],
    [
      'header-algorithm',
      'The key wrapping in the shared header.',
      withHeader({ alg: 'ECDH-ES+A256KW' }),
      'sealed_header_members',
    ],
    [
      'header-duplicate',
      'enc twice.',
      { ...jwe, protected: base64url(canonicalize(header).replace('{', '{"enc":"A256GCM",')) },
      'json_duplicate_member',
    ],
    ['other-encryption', 'A128GCM.', withHeader({ enc: 'A128GCM' }), 'sealed_encryption'],
    ['other-type', 'The type of another object.', withHeader({ typ: 'JWE' }), 'sealed_type'],
    [
      'other-content-type',
      'A content type that is not allowed here.',
      withHeader({ cty: 'application/json' }),
      'sealed_content_type',
    ],
    ['other-version', 'Another protocol version.', withHeader({ syv: 'svc/2.0' }), 'sealed_version'],
    ['iv-length', 'An iv of 16 bytes.', { ...jwe, iv: base64url(new Uint8Array(16)) }, 'sealed_iv'],
    [
      'tag-length',
      'A tag cut to 12 bytes.',
      { ...jwe, tag: base64url(fromBase64url(jwe.tag).subarray(0, 12)) },
      'sealed_tag',
    ],
    ['ciphertext-empty', 'No ciphertext.', { ...jwe, ciphertext: '' }, 'sealed_ciphertext'],
    [
      'ciphertext-padded',
      'Base64 padding.',
      { ...jwe, ciphertext: `${jwe.ciphertext}=` },
      'base64url_invalid',
    ],
  ]
}

function malformedRecipients(jwe: Story['jwe']): Row[] {
  const [sender, recipient] = jwe.recipients
  const epk = publicJwk(KEY.strangerEncryption)
  const recipients = (...list: unknown[]) => ({ ...jwe, recipients: list })
  const header = (change: object) =>
    recipients(sender, { ...recipient, header: { ...recipient.header, ...change } })
  const short = base64url(new Uint8Array(24))
  return [
    ['one-recipient', 'Sealed to the recipient alone.', recipients(recipient), 'sealed_recipient_count'],
    [
      'three-recipients',
      'Sealed to a third party too.',
      recipients(sender, recipient, recipient),
      'sealed_recipient_count',
    ],
    [
      'recipient-extra',
      'A parameter of its own in a slot.',
      header({ apu: 'AA' }),
      'sealed_recipient_members',
    ],
    [
      'direct-agreement',
      'Key agreement without wrapping.',
      header({ alg: 'ECDH-ES' }),
      'sealed_recipient_algorithm',
    ],
    [
      'other-wrapping',
      'Another key wrapping.',
      header({ alg: 'ECDH-ES+A128KW' }),
      'sealed_recipient_algorithm',
    ],
    ['kid-empty', 'A slot that names no key.', header({ kid: '' }), 'sealed_recipient_key_id'],
    [
      'key-length',
      'A wrapped key of 24 bytes.',
      recipients(sender, { ...recipient, encrypted_key: short }),
      'sealed_encrypted_key',
    ],
    [
      'epk-private',
      'An ephemeral key with its private part.',
      header({ epk: privateJwk(KEY.strangerEncryption) }),
      'key_private_material',
    ],
    [
      'epk-off-curve',
      'An ephemeral key that is no point of the curve.',
      header({ epk: { ...epk, y: epk.x } }),
      'key_not_on_curve',
    ],
    [
      'epk-open',
      'An ephemeral key with a member of its own, which could hold content.',
      header({ epk: { ...epk, note: 'x' } }),
      'key_member_unknown',
    ],
    [
      'epk-other-curve',
      'An ephemeral key of another curve.',
      header({ epk: { ...epk, crv: 'P-384' } }),
      'key_curve_unsupported',
    ],
  ]
}
