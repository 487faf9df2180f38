import type { KeyObject } from 'node:crypto'
import type { DeploymentProfile, PackageState, TransportMode } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { DirectClaims } from './direct-claims.ts'
import type { NewId } from './ids.ts'
import type { WebhookKeys } from '../platform-keys/webhook-keys.ts'
import type { PlatformSigner } from '../platform-keys/platform-signer.ts'

export type EvidenceVersion = 1 | 2

/** What every feature needs. Small on purpose: anything else is an argument of the feature that needs it. */
export interface Context {
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly newId: NewId
  /** {base_url}, without a final slash. */
  readonly publicUrl: string
  /** AEX_ISSUER. Undefined: the embedded authorization server issues tokens. */
  readonly externalIssuer: string | undefined
  /** Signs acceptance statements and skill releases as the platform. */
  readonly platform: PlatformSigner
  /** Webhook signing keys: their directory, and the key for new endpoints. */
  readonly webhookKeys: Pick<WebhookKeys, 'directory' | 'currentKeyId'>
  /** Whether webhooks may go to private and loopback addresses (development, tests). */
  readonly allowPrivateReceivers: boolean
  /** Whether an address of the database names several hosts, as a cluster with failover has them. */
  readonly hasSeveralDatabaseHosts: boolean
  /** HMAC key of cursors (API-06) and of the idempotency ids in audit events. */
  readonly macKey: KeyObject
  /** Of the evidence of packages that are accepted now (docs/transparency.md). */
  readonly evidenceVersion: () => EvidenceVersion
  /** Undefined: new deliveries always wait in the queue. */
  readonly directClaims?: DirectClaims
  /** Called after the commit, for each state that a package reached. */
  readonly onPackageState: (state: PackageState, mode: TransportMode) => void
}
