import type { PublicJwk } from '@agent-exchange/crypto'
import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import type { KeyList } from './checked-package.ts'

export interface ReferenceSettings {
  readonly port: number
  /** Whose tokens count, and with which keys. */
  readonly issuer: string
  readonly jwks: readonly (PublicJwk & { readonly kid: string })[]
  readonly keys: KeyList
  readonly server: ReferenceServer
}

/** What the service is held against. */
export type ReferenceServer =
  /** Its own HTTP server, with nothing behind it. */
  | { readonly kind: 'floor' }
  /** Its framework and its checks of a package alone: no schemas, no limits, no log. */
  | { readonly kind: 'bare' }
  /** As bare, with one statement after another behind it. */
  | { readonly kind: 'naive'; readonly database: DatabaseTarget }
