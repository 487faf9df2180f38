import type { PublicKey } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'

/** A trusted key of another agent, with its directory entry. */
export interface PeerKey {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
  readonly fingerprint: string
  readonly publicKey: PublicKey
  readonly entry: DirectoryKey
}

/** The pinned keys of one agent. */
export interface PeerPins {
  readonly agentId: string
  readonly organizationId: string
  readonly directoryVersion: string
  readonly keys: readonly PinnedKey[]
  /** Fingerprints from another channel whose keys the directory has not listed yet. */
  readonly expected: readonly string[]
}

export interface PinnedKey {
  readonly keyId: string
  readonly use: 'signing' | 'encryption'
  readonly fingerprint: string
  readonly pinnedAt: string
  /** Why it is trusted. For `log` and `directory`, only the operator vouches for the key; see O-47. */
  readonly by: 'first-use' | 'fingerprint' | 'introduction' | 'confirmation' | 'log' | 'directory'
  /** A revocation that the directory listed once. Kept, so that the directory cannot silently undo it. */
  readonly invalidFrom?: string
}

export type ChangePins = (before: PeerPins | undefined) => PeerPins | Promise<PeerPins>

/** Where pins are kept. */
export interface PinStore {
  read(agentId: string): Promise<PeerPins | undefined>
  /** Changes the pins of one agent atomically, so that concurrent processes do not overwrite each other. */
  update(agentId: string, change: ChangePins): Promise<PeerPins>
  list(): Promise<readonly PeerPins[]>
}

/** A new key without an introduction, for the person who confirms it. */
export interface KeyChange {
  readonly agentId: string
  readonly organizationId: string
  readonly pinned: readonly PinnedKey[]
  readonly offered: { readonly keyId: string; readonly use: string; readonly fingerprint: string }
}

export type ConfirmKey = (change: KeyChange) => boolean | Promise<boolean>

/** The keys of other agents, each checked against the pins. */
export interface PeerDirectory {
  /** The key to seal for: active, valid now, pinned or introduced by a pinned key. */
  encryptionKey(agentId: string): Promise<PeerKey>
  /** The key that a signature names, with any status. The caller checks its validity by time. */
  signingKey(agentId: string, keyId: string): Promise<PeerKey>
  /** Trusts a fingerprint from another channel. */
  trust(agentId: string, fingerprint: string): Promise<PeerPins>
  pins(agentId: string): Promise<PeerPins | undefined>
}
