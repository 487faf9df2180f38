import { importPublicJwk, type Curve } from '@agent-exchange/crypto'
import type { Connection } from '../connection/connection.ts'
import { ExchangeError } from '../errors.ts'
import { createConfirmation } from './confirmation.ts'
import { newestUsable } from './newest-usable.ts'
import type { ConfirmKey, PeerDirectory, PeerKey, PeerPins, PinStore } from './peer-directory.ts'
import { pinnerAt, reconcilePins } from './reconcile-pins.ts'
import { createDirectoryReader, type ShownDirectory, type ShownKey } from './shown-directory.ts'
import { withTrusted } from './trust-fingerprint.ts'

export interface PeerDirectoryOptions {
  readonly connection: Connection
  readonly pins: PinStore
  readonly now: () => Date
  /** Called for a key without an introduction. Without it, such a key is refused. */
  readonly confirmKey?: ConfirmKey | undefined
  /** Curves of encryption keys (O-28). */
  readonly curves?: readonly Curve[]
}

interface Look {
  readonly shown: ShownDirectory
  readonly pins: PeerPins
}

/**
 * The keys of other agents. The exchange lists them, the pins decide: a key is trusted if it was pinned before, if a
 * pinned key introduced it, if its fingerprint was given, or if it was confirmed.
 *
 * @example
 * const peers = createPeerDirectory({ connection, pins: createMemoryPinStore(), now: () => new Date() })
 * await peers.trust('agent_supplier', fingerprintFromTheirOwner)
 * const key = await peers.encryptionKey('agent_supplier')
 */
export function createPeerDirectory(options: PeerDirectoryOptions): PeerDirectory {
  const { connection, pins, now, confirmKey, curves = ['P-256'] } = options
  const read = createDirectoryReader(connection, now)
  const confirm = createConfirmation(confirmKey)

  async function look(agentId: string, fresh = false): Promise<Look> {
    const shown = await read(agentId, { fresh })
    const reconcile = (before: PeerPins | undefined) => reconcilePins(before, shown, now().toISOString())
    try {
      const before = await pins.read(agentId)
      const after = await reconcile(before)
      return { shown, pins: before === after ? after : await pins.update(agentId, reconcile) }
    } catch (error) {
      // Another process may have pinned from a newer directory: read it again before reporting a contradiction.
      const isOld = !fresh && error instanceof ExchangeError && error.code === 'peer_key_mismatch'
      if (isOld) return look(agentId, true)
      throw error
    }
  }

  /** Hands a key out once it is pinned, by whoever may decide that. */
  async function admit({ shown, pins: known }: Look, key: ShownKey): Promise<PeerKey> {
    const { agentId, organizationId } = shown
    const { key_id: keyId, use } = key.entry
    const isPinned = (each: PeerPins) => each.keys.some((pinned) => pinned.keyId === keyId)
    if (!isPinned(known)) {
      const offered = { keyId, use, fingerprint: key.fingerprint }
      await confirm({ agentId, organizationId, pinned: known.keys, offered })
      const pinned = pinnerAt(now().toISOString())(key, 'confirmation')
      await pins.update(agentId, (current = known) =>
        isPinned(current) ? current : { ...current, keys: [...current.keys, pinned] },
      )
    }
    const publicKey = await imported(key, curves)
    return { agentId, organizationId, keyId, fingerprint: key.fingerprint, publicKey, entry: key.entry }
  }

  return {
    async encryptionKey(agentId) {
      const seen = await look(agentId)
      const key = newestUsable(seen.shown, now().toISOString())
      if (!key) throw new ExchangeError('peer_key_missing', { details: { agentId, use: 'encryption' } })
      return admit(seen, key)
    },

    async signingKey(agentId, keyId) {
      const find = ({ shown }: Look) =>
        shown.keys.find(({ entry }) => entry.key_id === keyId && entry.use === 'signing')
      let seen = await look(agentId)
      // The key may have been registered after the directory was cached.
      if (!find(seen)) seen = await look(agentId, true)
      const key = find(seen)
      if (!key) throw new ExchangeError('peer_key_missing', { details: { agentId, keyId, use: 'signing' } })
      return admit(seen, key)
    },

    trust: (agentId, fingerprint) =>
      pins.update(agentId, (before) => withTrusted(before, agentId, fingerprint)),

    pins: (agentId) => pins.read(agentId),
  }
}

async function imported({ entry }: ShownKey, curves: readonly Curve[]): Promise<PeerKey['publicKey']> {
  try {
    return await importPublicJwk(entry.public_key, { use: entry.use, curves })
  } catch (cause) {
    const what = 'The directory shows a key that cannot be used.'
    throw new ExchangeError('exchange_answer_unreadable', { what, cause, details: { keyId: entry.key_id } })
  }
}
