import type { PublicKey } from '@agent-exchange/crypto'
import type { PublicKey as DirectoryKey } from '@agent-exchange/protocol'

/** A key of another agent that passed the pins, with what the directory says about it. */
export interface PeerKey {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
  readonly fingerprint: string
  readonly publicKey: PublicKey
  readonly entry: DirectoryKey
}

/** What is kept about the keys of one agent. */
export interface PeerPins {
  readonly agentId: string
  readonly organizationId: string
  readonly directoryVersion: string
  readonly keys: readonly PinnedKey[]
  /** Fingerprints that its owner gave over another channel and that no directory has shown yet. */
  readonly expected: readonly string[]
}

export interface PinnedKey {
  readonly keyId: string
  readonly use: 'signing' | 'encryption'
  readonly fingerprint: string
  readonly pinnedAt: string
  /** How it came to be trusted. */
  readonly by: 'first-use' | 'fingerprint' | 'introduction' | 'confirmation'
  /** Once the directory has shown a revocation it is remembered, so that it cannot be taken back in silence. */
  readonly invalidFrom?: string
}

export type ChangePins = (before: PeerPins | undefined) => PeerPins | Promise<PeerPins>

/** Where pins are kept. */
export interface PinStore {
  read(agentId: string): Promise<PeerPins | undefined>
  /** Changes the pins of one agent with nobody in between: what another process trusted is not overwritten. */
  update(agentId: string, change: ChangePins): Promise<PeerPins>
  list(): Promise<readonly PeerPins[]>
}

/** A change of keys that nothing vouches for; shown to whoever decides. */
export interface KeyChange {
  readonly agentId: string
  readonly organizationId: string
  readonly pinned: readonly PinnedKey[]
  readonly offered: { readonly keyId: string; readonly use: string; readonly fingerprint: string }
}

export type ConfirmKey = (change: KeyChange) => boolean | Promise<boolean>

/** The keys of other agents, each checked against its pins before it is handed out. */
export interface PeerDirectory {
  /** The key to seal for: active, valid now, pinned or introduced by a pinned key. */
  encryptionKey(agentId: string): Promise<PeerKey>
  /** The key that a signature names, whatever its status; the caller judges it by time. */
  signingKey(agentId: string, keyId: string): Promise<PeerKey>
  /** Trusts a fingerprint that was given over another channel. */
  trust(agentId: string, fingerprint: string): Promise<PeerPins>
  pins(agentId: string): Promise<PeerPins | undefined>
}
