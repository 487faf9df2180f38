import { generateKeyPair, type PrivateKey } from '@agent-exchange/crypto'
import { describeKey, missing, useOf, withKey, withRevocation, withStages } from './key-rules.ts'
import type { KeyStore, OwnKey } from './key-store.ts'

/**
 * A key store in memory: for tests, and for browsers without storage.
 *
 * @example
 * const keys = createMemoryKeyStore()
 * await makeAgentKeys(keys, { identity, now: () => new Date() })
 */
export function createMemoryKeyStore(): KeyStore {
  let own: readonly OwnKey[] = []
  const handles = new Map<string, PrivateKey>()
  return {
    list: async () => own,
    async generate(key) {
      const { publicKey, privateKey } = await generateKeyPair(useOf(key.role))
      const made = await describeKey(key, publicKey.jwk)
      own = withKey(own, made)
      handles.set(made.keyId, privateKey)
      return made
    },
    async privateKey(keyId) {
      const handle = handles.get(keyId)
      if (!handle) throw missing(keyId)
      return handle
    },
    async setStages(stages) {
      own = withStages(own, stages)
    },
    async noteRevocation(keyId, invalidFrom) {
      own = withRevocation(own, keyId, invalidFrom)
    },
  }
}
