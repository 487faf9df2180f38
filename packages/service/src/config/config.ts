import type { PolicyWitness } from '@agent-exchange/log'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type {
  KeyModuleConfig,
  LogLevel,
  MasterKeySettings,
  TlsConfig,
  TracingConfig,
} from '@agent-exchange/server/settings'
import type { OperatorSignOnConfig } from './operator-sign-on.ts'

export const ROLES = ['all', 'api', 'worker'] as const
export type Role = (typeof ROLES)[number]

/** The complete, validated configuration. No other code reads the environment. */
export interface Config extends MasterKeySettings {
  readonly host: string
  readonly port: number
  readonly operatorHost: string
  readonly operatorPort: number
  /** Origin of the console in browsers. Undefined: host and port of its listener. */
  readonly operatorPublicUrl: string | undefined
  /** Undefined: operators sign in with tokens only. */
  readonly operatorSignOn: OperatorSignOnConfig | undefined
  /** {base_url}, without a final slash. */
  readonly publicUrl: string
  /** An absolute path. */
  readonly dataDirectory: string
  /** Undefined: the embedded database. */
  readonly databaseUrl: string | undefined
  /** Undefined: no replica. */
  readonly databaseReadUrl: string | undefined
  /** Undefined: DATABASE_URL leads to the server itself, not to a pooler. */
  readonly databaseDirectUrl: string | undefined
  readonly tls: TlsConfig | undefined
  /** Verifies certificates that a proxy forwards, where the service itself has no TLS. */
  readonly forwardedClientCa?: CaConfig
  /** Addresses and networks in CIDR notation. */
  readonly trustedProxies: readonly string[]
  /** Text that those proxies send with each request. Undefined: their address is sufficient. */
  readonly proxySecret?: string
  /** Undefined: the embedded authorization server. */
  readonly issuer: string | undefined
  readonly profile: DeploymentProfile
  readonly webhook: WebhookConfig
  readonly role: Role
  readonly workers: number
  /** Whether this process may create the first operator. Its token is then in the data directory of this process. */
  readonly createsFirstOperator: boolean
  /** Holds the signing keys. Undefined: the database does, under the master key. */
  readonly keyModule?: KeyModuleConfig
  readonly smtp: SmtpConfig | undefined
  readonly logLevel: LogLevel
  /** Also on a terminal; `aex serve --json`. */
  readonly logAsJson?: boolean
  /** They cosign the transparency log; often none. */
  readonly witnesses: readonly PolicyWitness[]
  /** Undefined: no traces, and none of their code is loaded. */
  readonly tracing: TracingConfig | undefined
}

/** Certificate authorities. */
export interface CaConfig {
  /** PEM text. */
  readonly ca: string | undefined
  /** Where the text came from. The service watches this file; without it, it keeps the text. */
  readonly caFile?: string
}

export interface WebhookConfig extends CaConfig {
  readonly allowPrivate: boolean
}

export interface SmtpConfig {
  readonly url: string
  readonly from: string
}
