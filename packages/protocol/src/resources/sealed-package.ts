import { Type } from 'typebox'
import { ours, proves } from '../schema/annotations.ts'
import { define } from '../schema/define.ts'
import { KEY_WRAPPING, MEDIA_TYPE } from '../wire.ts'
import { base64url, base64urlOf, name, request } from './forms.ts'
import { publicJwk } from './keys.ts'

const sealedRecipient = define(
  'SealedRecipient',
  request(
    {
      // A 256-bit key under AES key wrap (RFC 3394) grows by 8 bytes.
      encrypted_key: base64urlOf(40, 'the wrapped content key'),
      header: request({ alg: Type.Literal(KEY_WRAPPING), epk: publicJwk, kid: name }),
    },
    proves('PKG-02'),
  ),
)

/** A General JWE (RFC 7516 section 7.2.1). */
export const sealedPackage = define(
  'SealedPackage',
  request(
    {
      aad: base64url('additional authenticated data, opaque to the exchange', ours('O-17')),
      ciphertext: base64url('the sealed content'),
      iv: base64urlOf(12, 'the initialization vector of AES-256-GCM'),
      protected: base64url('the JWE protected header: cty, enc, syv, typ', {
        contentMediaType: MEDIA_TYPE.json,
      }),
      recipients: Type.Array(sealedRecipient, {
        minItems: 2,
        maxItems: 2,
        description: 'the sender and the recipient',
      }),
      tag: base64urlOf(16, 'the authentication tag of AES-256-GCM'),
    },
    proves('PKG-02'),
  ),
)
