/** What a test holds: a running exchange and the organizations on it. */

import type { KeyPair } from '@agent-exchange/crypto'
import type { AgentRegistration, TransportMode } from '@agent-exchange/protocol'
import type postgres from 'postgres'
import type { MovableClock } from './movable-clock.ts'

export interface OrganizationOptions {
  /** A client of the agent instead of one of the whole organization. */
  readonly agentBound?: boolean
  readonly transportModes?: TransportMode[]
  readonly protocolVersions?: string[]
  /** Do not register the agent. */
  readonly unregistered?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
  /** The exact bytes of the body. */
  readonly text: string
}

export interface RequestOptions {
  readonly body?: unknown
  /** Sent instead of the JSON of `body`. */
  readonly raw?: string | Uint8Array
  readonly idempotencyKey?: string
  readonly correlationId?: string
  /** Added last; `undefined` removes a header. */
  readonly headers?: Record<string, string | undefined>
  /** The base URL of another replica. */
  readonly at?: string
  /** Aborts the request. */
  readonly signal?: AbortSignal
}

/** An organization with one registered agent, its keys, its client and methods to call the exchange. */
export interface Organization {
  readonly organizationId: string
  readonly agentId: string
  readonly clientId: string
  readonly clientKey: KeyPair
  readonly signing: { readonly keyId: string; readonly pair: KeyPair }
  readonly encryption: { readonly keyId: string; readonly pair: KeyPair }
  readonly world: World
  registration(): AgentRegistration
  token(): Promise<string>
  get(path: string, options?: RequestOptions): Promise<Answer>
  post(path: string, body: unknown, options?: RequestOptions): Promise<Answer>
}

/** A real service on a real database, with an adjustable clock and operator access. */
export interface World extends AsyncDisposable {
  readonly url: string
  readonly operatorUrl: string
  readonly clock: MovableClock
  readonly sql: postgres.Sql
  readonly databaseUrl: string
  readonly masterKey: Uint8Array
  /** Log lines of the service. */
  readonly logged: string[]
  /** A provisioned organization with a registered agent, keys and a client. */
  organization(name: string, options?: OrganizationOptions): Promise<Organization>
  /** Calls the operator API. */
  operate(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }>
}
