import { CryptoError, generateKeyPair, importPrivateJwk, type KeyProvider } from '@agent-exchange/crypto'
import type { KeyUse, PrivateJwk, PrivateKey } from '@agent-exchange/crypto'

/** A module in memory that can be switched off, like a network HSM behind a broken line. */
export function createMemoryKeyProvider(): KeyProvider & { isAway: boolean } {
  const held = new Map<string, PrivateKey>()
  async function hold(privateJwk: PrivateJwk, use: KeyUse) {
    const reference = `memory:${held.size}`
    const key = await importPrivateJwk(privateJwk, { use })
    const here = <T>(work: Promise<T>) => (provider.isAway ? away() : work)
    const privateKey: PrivateKey = {
      ...key,
      sign: (message) => here(key.sign(message)),
      agree: (other) => here(key.agree(other)),
    }
    held.set(reference, privateKey)
    return { reference, privateKey }
  }
  const provider: KeyProvider & { isAway: boolean } = {
    isAway: false,
    generate: async ({ use }) => hold((await generateKeyPair(use)).privateJwk, use),
    importKey: (privateJwk, { use }) => hold(privateJwk, use),
    async privateKey(reference) {
      if (provider.isAway) return away()
      const key = held.get(reference)
      if (!key) throw new CryptoError('key_private_missing')
      return key
    },
    async destroy(reference) {
      held.delete(reference)
    },
  }
  return provider
}

function away(): Promise<never> {
  return Promise.reject(new CryptoError('key_unavailable'))
}
