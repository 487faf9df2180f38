import { hash, randomBytes } from 'node:crypto'
import {
  decodeBase64url,
  importPrivateJwk,
  importPublicJwk,
  type KeyProvider,
  type KeyUse,
  type PrivateKey,
} from '@agent-exchange/crypto'
import { ed25519KeyOf, pointOf, publicJwkOf } from './ec-encoding.ts'
import { formatKeyUri, parseKeyUri } from './key-uri.ts'
import { ModuleError } from './module-error.ts'
import { type CallObserver, ModuleWorkerClient } from './module-worker-client.ts'

const ID_BYTES = 16

export interface ModuleOptions {
  /** Path of the library, for example `/usr/lib/softhsm/libsofthsm2.so`. */
  readonly module: string
  /** Label of the token. */
  readonly token: string
  /** File with the PIN of the token's user. It is read at each login. */
  readonly pinFile: string
  /** Name or path of the binding. Defaults to `pkcs11js`. */
  readonly binding?: string
  /** Maximum time of one call. Defaults to 5 seconds. */
  readonly timeoutMs?: number
  /** Maximum number of waiting calls. Defaults to 1,000. */
  readonly maximumQueued?: number
  /** Called after each call, for metrics. */
  readonly onCall?: CallObserver
}

/** An Ed25519 key in the module. */
export interface Ed25519Key {
  readonly reference: string
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Promise<Uint8Array>
}

export interface ListedModuleKey {
  readonly reference: string
  readonly label: string
}

/** The keys of one token. References are RFC 7512 URIs. Every rejection is a `ModuleError`. */
export interface KeyModule extends KeyProvider, AsyncDisposable {
  readonly token: string
  /** Logs in if needed, and rejects if the token cannot be used now. */
  check(): Promise<{ readonly hasEd25519: boolean }>
  list(): Promise<readonly ListedModuleKey[]>
  generateEd25519(label: string): Promise<Ed25519Key>
  ed25519Key(reference: string): Promise<Ed25519Key>
}

/**
 * Opens a token of a PKCS#11 module. Nothing is loaded before the first call, so a module that is away now may come later.
 *
 * @example
 * await using module = openModule({ module: '/usr/lib/softhsm/libsofthsm2.so', token: 'aex', pinFile: '/run/pin' })
 * const keys = openFileKeyStore('./agent/keys.json', { keyProvider: module })
 */
export function openModule(options: ModuleOptions): KeyModule {
  const { token, binding = 'pkcs11js' } = options
  const client = new ModuleWorkerClient({ ...options, binding })

  function idOf(reference: string): Uint8Array {
    const uri = parseKeyUri(reference)
    if (uri?.token !== token) throw new ModuleError('key_missing')
    return uri.id
  }

  async function keyOf(id: Uint8Array, use: KeyUse, ecPoint: Uint8Array): Promise<PrivateKey> {
    const { jwk } = await importPublicJwk(publicJwkOf(ecPoint))
    return {
      use,
      publicJwk: jwk,
      sign: (message) => client.call('sign', { kind: use, id, data: hash('sha256', message, 'buffer') }),
      agree: (other) => client.call('agree', { id, point: pointOf(other) }),
    }
  }

  function ed25519Of(id: Uint8Array, ecPoint: Uint8Array): Ed25519Key {
    return {
      reference: formatKeyUri({ token, id }),
      publicKey: ed25519KeyOf(ecPoint),
      sign: (message) => client.call('sign', { kind: 'ed25519', id, data: message }),
    }
  }

  return {
    token,
    check: () => client.call('check', {}),
    async list() {
      const keys = await client.call('list', {})
      return keys.map(({ id, label }) => ({ reference: formatKeyUri({ token, id }), label }))
    },
    async generate({ use, label }) {
      const id = randomBytes(ID_BYTES)
      const point = await client.call('generate', { kind: use, id, label })
      return { reference: formatKeyUri({ token, id }), privateKey: await keyOf(id, use, point) }
    },
    async importKey(privateJwk, { use, label }) {
      const { publicJwk } = await importPrivateJwk(privateJwk, { use })
      const id = randomBytes(ID_BYTES)
      const point = pointOf(publicJwk)
      const scalar = decodeBase64url(privateJwk.d)
      await client.call('importKey', { kind: use, id, label, scalar, point })
      return { reference: formatKeyUri({ token, id }), privateKey: await keyOf(id, use, point) }
    },
    async privateKey(reference, use) {
      const id = idOf(reference)
      return keyOf(id, use, await client.call('find', { id }))
    },
    async destroy(reference) {
      await client.call('destroy', { id: idOf(reference) })
    },
    async generateEd25519(label) {
      const id = randomBytes(ID_BYTES)
      return ed25519Of(id, await client.call('generate', { kind: 'ed25519', id, label }))
    },
    async ed25519Key(reference) {
      const id = idOf(reference)
      return ed25519Of(id, await client.call('find', { id }))
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}
