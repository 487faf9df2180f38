import { encodeBase64url, signEs256 } from '@agent-exchange/crypto'
import { SIGNATURE_ALGORITHM } from '@agent-exchange/protocol'
import type { ClientAuth } from 'oauth4webapi'
import { ExchangeError } from '../errors.ts'
import type { KeyStore } from '../keys/key-store.ts'
import { ASSERTION_SECONDS } from './connection-limits.ts'
import { randomId } from './random-id.ts'

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const encoder = new TextEncoder()

/** private_key_jwt (RFC 7523 section 2.2), signed by the store: the client's private key stays inside it. */
export function assertionBy(keys: KeyStore, now: () => Date): ClientAuth {
  return async (server, client, body) => {
    const own = (await keys.list()).find(({ role, stage }) => role === 'client' && stage === 'current')
    if (!own) throw new ExchangeError('key_missing', { what: 'The key store has no client key.' })
    const issuedAt = Math.floor(now().getTime() / 1_000)
    const claims = {
      iss: client.client_id,
      sub: client.client_id,
      aud: server.issuer,
      jti: randomId('jti'),
      iat: issuedAt,
      exp: issuedAt + ASSERTION_SECONDS,
    }
    const signed = `${part({ alg: SIGNATURE_ALGORITHM })}.${part(claims)}`
    const signature = await signEs256(await keys.privateKey(own.keyId), encoder.encode(signed))
    body.set('client_id', client.client_id)
    body.set('client_assertion_type', ASSERTION_TYPE)
    body.set('client_assertion', `${signed}.${encodeBase64url(signature)}`)
  }
}

function part(value: object): string {
  return encodeBase64url(encoder.encode(JSON.stringify(value)))
}
