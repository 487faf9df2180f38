import type { PublicJwk } from '@agent-exchange/crypto'
import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import type { KeyList } from './checked-package.ts'

export interface ReferenceSettings {
  readonly port: number
  /** Accepted tokens and keys. */
  readonly issuer: string
  readonly jwks: readonly (PublicJwk & { readonly kid: string })[]
  readonly keys: KeyList
  readonly server: ReferenceServer
}

/** The reference servers. */
export type ReferenceServer =
  /** The HTTP server of the service without a database. */
  | { readonly kind: 'floor' }
  /** Only the framework and the checks of a package: no schemas, no limits, no log. */
  | { readonly kind: 'bare' }
  /** Like bare, with naive storage. */
  | { readonly kind: 'naive'; readonly database: DatabaseTarget }
