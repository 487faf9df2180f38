import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 }

/** What a forger changes about an answer. */
export interface Forgery {
  readonly origin?: string
  readonly rpId?: string
  readonly userVerified?: boolean
  readonly userPresent?: boolean
  readonly counter?: number
  readonly type?: string
}

/** An authenticator in software: one ES256 credential, attestation "none", as RFC and WebAuthn encode them. */
export function softwareAuthenticator({ origin, rpId }: { origin: string; rpId: string }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const credentialId = randomBytes(32)
  let counter = 0

  const clientData = (type: string, challenge: string, forgery: Forgery) =>
    Buffer.from(
      JSON.stringify({
        type: forgery.type ?? type,
        challenge,
        origin: forgery.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const authenticatorData = (forgery: Forgery, attested = Buffer.alloc(0)) => {
    const flags =
      (forgery.userPresent === false ? 0 : FLAGS.present) |
      (forgery.userVerified === false ? 0 : FLAGS.verified) |
      (attested.length > 0 ? FLAGS.attested : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(forgery.counter ?? (counter += 1))
    return Buffer.concat([sha256(forgery.rpId ?? rpId), Buffer.from([flags]), count, attested])
  }
  const credential = {
    id: credentialId.toString('base64url'),
    rawId: credentialId.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
  }

  return {
    credentialId: credential.id,
    /** `navigator.credentials.create` */
    create({ challenge }: { readonly challenge: string }, forgery: Forgery = {}) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const attested = Buffer.concat([Buffer.alloc(16), length, credentialId, coseKey(publicKey)])
      const data = authenticatorData(forgery, attested)
      return {
        ...credential,
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, forgery).toString('base64url'),
          attestationObject: attestationNone(data).toString('base64url'),
          transports: ['internal'],
        },
      }
    },
    /** `navigator.credentials.get` */
    get({ challenge }: { readonly challenge: string }, forgery: Forgery = {}) {
      const data = clientData('webauthn.get', challenge, forgery)
      const authenticator = authenticatorData(forgery)
      const signed = Buffer.concat([authenticator, sha256(data)])
      return {
        ...credential,
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authenticator.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
        },
      }
    },
  }
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()

/** CBOR {1: 2, 3: -7, -1: 1, -2: x, -3: y} (RFC 9052): an EC2 key of P-256 for ES256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 0x20]),
    Buffer.from(y, 'base64url'),
  ])
}

/** CBOR {"fmt": "none", "attStmt": {}, "authData": bytes}; authData is shorter than 256 bytes. */
function attestationNone(authData: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0xa3, 0x63]),
    Buffer.from('fmt'),
    Buffer.from([0x64]),
    Buffer.from('none'),
    Buffer.from([0x67]),
    Buffer.from('attStmt'),
    Buffer.from([0xa0, 0x68]),
    Buffer.from('authData'),
    Buffer.from([0x58, authData.length]),
    authData,
  ])
}
