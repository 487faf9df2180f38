import { signEs256 } from '@agent-exchange/crypto'
import { MEDIA_TYPE, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { utf8 } from '../profiles/profile.ts'
import { KEY, privateKey } from '../test-keys.ts'
import { base64url } from './vectors.ts'

export const HEADER = {
  alg: 'ES256',
  cty: MEDIA_TYPE.exchangeEnvelope,
  kid: KEY.senderSigning,
  syv: PROTOCOL_VERSION,
  typ: MEDIA_TYPE.exchangeJws,
}

/** Signs an arbitrary header and payload, so that a vector has only its own fault. */
export async function signText(header: string, payload: string): Promise<string> {
  const input = `${base64url(header)}.${base64url(payload)}`
  const signature = await signEs256(await privateKey(KEY.senderSigning), utf8(input))
  return JSON.stringify({
    protected: base64url(header),
    payload: base64url(payload),
    signature: base64url(signature),
  })
}
