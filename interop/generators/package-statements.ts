import { canonicalize, signDetached, signPackageStatement } from '@agent-exchange/crypto'
import type { ProfileName } from '../profiles/index.ts'
import { KEY, signingKey } from '../test-keys.ts'
import { detachedRefusals } from './detached-refusals.ts'
import { signatureSpellings } from './signature-spellings.ts'
import type { Story } from './story.ts'
import { type Generated, invalid, valid } from './vectors.ts'

interface Statement {
  readonly profile: ProfileName
  readonly description: string
  readonly rule: string
  readonly keyId: string
  readonly stranger: string
  readonly packageId: string
  readonly body: object
  readonly altered: object
  readonly signedButInvalid: readonly [name: string, description: string, body: object, rule: string][]
}

async function packageStatement(statement: Statement): Promise<Generated> {
  const { profile, description, rule, keyId, stranger, packageId, body, altered } = statement
  const signer = await signingKey(keyId)
  const input = { package_id: packageId, verify_with: keyId }
  const bound = await signPackageStatement(body, { ...signer, packageId })
  const plain = await signDetached(body, { ...signer, member: 'signature' })
  const carry = (signature: object) => ({ object: { ...body, signature }, ...input })
  const boundText = canonicalize({ ...body, package_id: packageId })
  const refused = await detachedRefusals({
    rule,
    member: 'signature',
    unsigned: body,
    signature: bound,
    altered,
    signer,
    stranger,
    input,
  })
  for (const [name, says, other, broken] of statement.signedButInvalid) {
    const signature = await signPackageStatement(other, { ...signer, packageId })
    const object = { ...other, signature }
    refused.push(invalid(name, says, { object, ...input }, { rule: broken, code: 'schema_invalid' }))
  }
  return {
    profile,
    description,
    references: [rule, 'O-22', 'RFC 8785', 'RFC 7518 section 3.4'],
    vectors: [
      valid('bound', 'Signed with the member package_id added: it speaks of one package.', carry(bound), {
        form: 'bound',
        signed_text: boundText,
      }),
      valid('plain', 'Signed as sent: nothing in it names the package.', carry(plain), {
        form: 'plain',
        signed_text: canonicalize(body),
      }),
      valid(
        'bound-only',
        'Bound, where only that form counts.',
        { ...carry(bound), accept: ['bound'] },
        {
          form: 'bound',
          signed_text: boundText,
        },
      ),
      ...signatureSpellings(bound).map(([name, says, respelled]) =>
        valid(name, says, carry(respelled), { form: 'bound', signed_text: boundText }),
      ),
      invalid(
        'other-package',
        'Bound to another package than the one it is sent for.',
        { ...carry(bound), package_id: 'pkg_seat_rails_2' },
        { rule: 'O-22', code: 'signature_mismatch' },
      ),
      invalid(
        'plain-where-bound-is-asked',
        'Plain, where only the bound form counts.',
        { ...carry(plain), accept: ['bound'] },
        { rule: 'O-22', code: 'signature_mismatch' },
      ),
      ...refused,
    ],
  }
}

export function packageReceipt({ receipt: body, metadata }: Story): Promise<Generated> {
  return packageStatement({
    profile: 'package-receipt',
    description: 'What a recipient says of a package, signed by its agent.',
    rule: 'PKG-08',
    keyId: KEY.recipientSigning,
    stranger: KEY.senderSigning,
    packageId: metadata.package_id,
    body,
    altered: { state: 'opened' },
    signedButInvalid: [
      ['unknown-state', 'A state that no receipt has.', { ...body, state: 'delivered' }, 'PKG-08'],
      [
        'package-id-inside',
        'The member that only the signature covers, sent along.',
        { ...body, package_id: metadata.package_id },
        'O-29',
      ],
    ],
  })
}

export function packageRevocation({ revocation: body, metadata }: Story): Promise<Generated> {
  return packageStatement({
    profile: 'package-revocation',
    description: 'A sender takes a package back, signed by its agent.',
    rule: 'PKG-10',
    keyId: KEY.senderSigning,
    stranger: KEY.recipientSigning,
    packageId: metadata.package_id,
    body,
    altered: { reason_code: 'sent_in_error' },
    signedButInvalid: [
      ['unknown-member', 'A member of its own.', { ...body, note: '' }, 'O-29'],
      [
        'local-time',
        'A time that is not UTC.',
        { ...body, requested_at: '2026-03-02T09:30:00+01:00' },
        'OBJ-19',
      ],
    ],
  })
}
