import {
  canonicalize,
  type DetachedSignature,
  encodeBase64url,
  signEs256,
  type SignatureMember,
  type SigningKey,
} from '@agent-exchange/crypto'
import { utf8 } from '../profiles/profile.ts'
import type { InvalidVector } from '../vector-file.ts'
import { toDer } from './es256.ts'
import { base64url, fromBase64url, invalid } from './vectors.ts'

export interface Signed {
  /** The requirement for the signature. */
  readonly rule: string
  readonly member: SignatureMember
  readonly unsigned: object
  readonly signature: DetachedSignature
  /** A member whose value differs from the signed one. */
  readonly altered: object
  readonly signer: SigningKey
  readonly stranger: string
  /** Further input of the vectors of the profile. */
  readonly input: { readonly verify_with: string }
}

/** Failures of detached signatures, for every profile that has one. */
export async function detachedRefusals(signed: Signed): Promise<InvalidVector[]> {
  const { rule, member, unsigned, signature, altered, signer, stranger, input } = signed
  const carrying = (change: unknown, body: object = unsigned) => ({
    object: { ...body, [member]: change },
    ...input,
  })
  const changed = (change: object) => carrying({ ...signature, ...change })
  const raw = fromBase64url(signature.signature)
  const der = toDer(raw.subarray(0, 32), raw.subarray(32))
  const signedText = async (text: string) => {
    const bytes = await signEs256(signer.key, utf8(text))
    return changed({ signature: encodeBase64url(bytes) })
  }
  const reversed = Object.fromEntries(Object.entries(unsigned).toReversed())

  const refused: [name: string, description: string, input: object, code: string][] = [
    [
      'altered',
      'A member was changed after signing.',
      carrying(signature, { ...unsigned, ...altered }),
      'signature_mismatch',
    ],
    [
      'other-key',
      'Verified with the key of somebody else.',
      { ...carrying(signature), verify_with: stranger },
      'signature_mismatch',
    ],
    [
      'not-canonical',
      'Signed over JSON with members in another order.',
      await signedText(JSON.stringify(reversed)),
      'signature_mismatch',
    ],
    [
      'indented',
      'Signed over JSON with line breaks.',
      await signedText(JSON.stringify(unsigned, undefined, 2)),
      'signature_mismatch',
    ],
    [
      'signature-member-kept',
      'Signed with the signature member in place, as null, instead of left out.',
      await signedText(canonicalize({ ...unsigned, [member]: null })),
      'signature_mismatch',
    ],
    [
      'out-of-range',
      'r and s are 0.',
      changed({ signature: base64url(new Uint8Array(64)) }),
      'signature_mismatch',
    ],
    ['der', 'The signature as ASN.1 DER.', changed({ signature: base64url(der) }), 'signature_encoding'],
    [
      '63-bytes',
      'The last byte is missing.',
      changed({ signature: base64url(raw.subarray(0, 63)) }),
      'signature_encoding',
    ],
    [
      'wrong-padding',
      'One padding character, where there are none or two.',
      changed({ signature: `${signature.signature}=` }),
      'signature_encoding',
    ],
    [
      'mixed-alphabets',
      'Characters of base64 and of base64url in one text.',
      changed({ signature: `-+${signature.signature.slice(2)}` }),
      'signature_encoding',
    ],
    [
      'unused-bits',
      'The last character has bits that belong to no byte.',
      changed({ signature: `${signature.signature.slice(0, -1)}B` }),
      'signature_encoding',
    ],
    ['other-algorithm', 'Another algorithm.', changed({ algorithm: 'ES384' }), 'signature_algorithm'],
    ['no-algorithm', 'The algorithm none.', changed({ algorithm: 'none' }), 'signature_algorithm'],
    ['no-key-id', 'An empty key_id.', changed({ key_id: '' }), 'signature_malformed'],
    [
      'extra-member',
      'A member beside the three of a signature.',
      changed({ jwk: {} }),
      'signature_malformed',
    ],
    ['bare-text', 'The signature as text alone.', carrying(signature.signature), 'signature_malformed'],
    ['unsigned', 'No signature.', { object: unsigned, ...input }, 'signature_malformed'],
  ]
  return refused.map(([name, description, vectorInput, code]) =>
    invalid(name, description, vectorInput, { rule, code }),
  )
}
