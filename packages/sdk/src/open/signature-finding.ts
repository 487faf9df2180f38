import type { ParsedEnvelope } from '@agent-exchange/crypto'

/** A signed object, as received. */
export type SignedSubject =
  | { readonly kind: 'envelope'; readonly envelope: ParsedEnvelope }
  | { readonly kind: 'manifest' | 'policy_receipt'; readonly object: object }
  | { readonly kind: 'statement'; readonly object: object; readonly packageId: string }

/** What would verify, as a sentence for developers of both sides. Names only, no values. */
export interface SignatureFinding {
  readonly code:
    | 'other_key'
    | 'json_text'
    | 'reserialized'
    | 'hashed_twice'
    | 'member_added'
    | 'other_package'
    | 'signature_encoding'
    | 'nothing_fits'
  readonly message: string
  readonly keyId?: string
  readonly member?: string
}
