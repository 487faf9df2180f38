import type { NativePackageBody, PackageMetadata } from '../../resources/packages.ts'
import {
  CONTENT_ENCRYPTION,
  KEY_WRAPPING,
  MEDIA_TYPE,
  PROTOCOL_VERSION,
  SIGNATURE_ALGORITHM,
} from '../../wire.ts'
import { base64urlText } from './base64url-text.ts'
import { CONTENT_TYPE, POINT, SIGNATURE_TEXT } from './story.ts'

interface Keys {
  readonly signing: string
  readonly sealedTo: readonly [sender: string, recipient: string]
}

/** Example of a sealed package and its envelope. Signature and ciphertext are placeholders. */
export function nativeBody(metadata: PackageMetadata, { signing, sealedTo }: Keys): NativePackageBody {
  const protectedHeader = {
    alg: SIGNATURE_ALGORITHM,
    cty: MEDIA_TYPE.exchangeEnvelope,
    kid: signing,
    syv: PROTOCOL_VERSION,
    typ: MEDIA_TYPE.exchangeJws,
  }
  return {
    protected: base64urlJson(protectedHeader),
    payload: base64urlJson({ jwe: sealed(sealedTo), metadata }),
    signature: SIGNATURE_TEXT,
  }
}

function sealed(keyIds: Keys['sealedTo']) {
  return {
    aad: base64urlText('opaque to the exchange'),
    ciphertext: base64urlText('placeholder for the sealed reasoning package'),
    iv: base64urlText('twelve bytes'),
    protected: base64urlJson({
      cty: CONTENT_TYPE,
      enc: CONTENT_ENCRYPTION,
      syv: PROTOCOL_VERSION,
      typ: MEDIA_TYPE.sealedJwe,
    }),
    recipients: keyIds.map((kid) => ({
      encrypted_key: base64urlText('placeholder for forty wrapped key bytes '),
      header: { alg: KEY_WRAPPING, epk: POINT.next, kid },
    })),
    tag: base64urlText('sixteen byte tag'),
  }
}

function base64urlJson(value: object): string {
  return base64urlText(JSON.stringify(value))
}
