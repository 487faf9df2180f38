/** A key that the directory shows. */
export interface KeyClaim {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
  readonly use: string
  readonly fingerprint: string
  readonly validFrom: string
}

/**
 * - `logged`: the registration of the key is in the log.
 * - `pending`: the exchange says that it will be, or witnesses have not seen it yet.
 * - `unlogged`: the exchange does not show such an event, or publishes no log.
 */
export type KeyProof = 'logged' | 'pending' | 'unlogged'
