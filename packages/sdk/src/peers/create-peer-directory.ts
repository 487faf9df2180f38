import { importPublicJwk, type Curve } from '@agent-exchange/crypto'
import type { Connection } from '../connection/connection.ts'
import { ExchangeError } from '../errors.ts'
import { createConfirmation } from './confirmation.ts'
import type { KeyClaim, KeyProof } from './key-proof.ts'
import { newestUsable } from './newest-usable.ts'
import { counts, usesIntroductions, type KeyTrust } from './key-trust.ts'
import type {
  ConfirmKey,
  KeyChange,
  PeerDirectory,
  PeerKey,
  PeerPins,
  PinnedKey,
  PinStore,
} from './peer-directory.ts'
import { pinnerAt, reconcilePins } from './reconcile-pins.ts'
import { createDirectoryReader, type ShownDirectory, type ShownKey } from './shown-directory.ts'
import { withTrusted } from './trust-fingerprint.ts'

export interface PeerDirectoryOptions {
  readonly connection: Connection
  readonly pins: PinStore
  readonly now: () => Date
  /** Called for a changed key that does not count otherwise. Without it, such a key is refused. */
  readonly confirmKey?: ConfirmKey | undefined
  /** When a changed key counts (O-47). */
  readonly keyTrust: () => KeyTrust
  /** Looks for the key in the transparency log. */
  readonly proveKey: (claim: KeyClaim) => Promise<KeyProof>
  /** Curves of encryption keys (O-28). */
  readonly curves: () => readonly Curve[]
}

interface Look {
  readonly shown: ShownDirectory
  readonly pins: PeerPins
}

/**
 * The keys of other agents. The exchange lists them, the pins decide: a key is trusted if it was pinned before, if a
 * pinned key introduced it, if its fingerprint was given, if it was confirmed, or by the rule of O-47.
 */
export function createPeerDirectory(options: PeerDirectoryOptions): PeerDirectory {
  const { connection, pins, now, confirmKey, keyTrust, proveKey, curves } = options
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
  async function admit(seen: Look, key: ShownKey): Promise<PeerKey> {
    const { agentId, organizationId } = seen.shown
    const { key_id: keyId } = key.entry
    const isPinned = (each: PeerPins) =>
      each.keys.some((pinned) => pinned.keyId === keyId && counts(pinned, keyTrust()))
    if (!isPinned(seen.pins)) {
      const pinned = pinnerAt(now().toISOString())(key, await admission(seen, key))
      await pins.update(agentId, (current = seen.pins) =>
        isPinned(current)
          ? current
          : { ...current, keys: [...current.keys.filter((each) => each.keyId !== keyId), pinned] },
      )
    }
    const publicKey = await imported(key, curves())
    return { agentId, organizationId, keyId, fingerprint: key.fingerprint, publicKey, entry: key.entry }
  }

  /** O-47: why a key without an introduction counts. Throws unless it does. */
  async function admission({ shown, pins: known }: Look, key: ShownKey): Promise<PinnedKey['by']> {
    const { agentId, organizationId } = shown
    const { key_id: keyId, use, valid_from: validFrom } = key.entry
    const offered = { keyId, use, fingerprint: key.fingerprint }
    const change = { agentId, organizationId, pinned: known.keys, offered }
    const { verifying, sealing } = keyTrust()
    if ((use === 'signing' ? verifying : sealing) === 'directory') return 'directory'
    if (use === 'signing' && verifying === 'logged' && !usesIntroductions(known)) {
      const proof = await proveKey({ agentId, organizationId, ...offered, validFrom })
      if (proof === 'logged') return 'log'
      if (proof === 'pending') throw unlogged(change)
    }
    await confirm(change)
    return 'confirmation'
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

function unlogged(change: KeyChange): ExchangeError {
  const { agentId, offered } = change
  return new ExchangeError('peer_key_unlogged', {
    what: `The new ${offered.use} key of ${agentId} has the fingerprint ${offered.fingerprint}.`,
    details: { change },
    retryable: true,
  })
}

async function imported({ entry }: ShownKey, curves: readonly Curve[]): Promise<PeerKey['publicKey']> {
  try {
    return await importPublicJwk(entry.public_key, { use: entry.use, curves })
  } catch (cause) {
    const what = 'The directory shows a key that cannot be used.'
    throw new ExchangeError('exchange_answer_unreadable', { what, cause, details: { keyId: entry.key_id } })
  }
}
