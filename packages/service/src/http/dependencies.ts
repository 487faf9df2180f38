import type { PolicyWitness } from '@agent-exchange/log'
import type { Logger } from 'pino'
import type { TlsConfig } from '@agent-exchange/server/settings'
import type { Database } from '@agent-exchange/database'
import type { LogKeys } from '../features/transparency-log/log-key.ts'
import type { Context } from '../kernel/context.ts'
import type { MutationPipeline } from '../kernel/mutation-pipeline.ts'
import type { Tracing } from '../kernel/tracing.ts'
import type { ReadReplica } from '../kernel/read-replica.ts'
import type { Turns } from '../kernel/turns.ts'
import type { AuthorizationServer } from '../oauth/authorization-server.ts'
import type { Authentication } from './authentication.ts'
import type { BodyBudget } from './body-budget.ts'
import type { ConcurrencyLimits } from './concurrency-limit.ts'
import type { ConnectionRules } from './connection-limit.ts'
import type { RateLimit } from './leased-buckets.ts'

/** Dependencies of the agent API. */
export interface AgentServerDependencies {
  readonly db: Database
  /** AEX_DATABASE_READ_URL. */
  readonly replica: ReadReplica | undefined
  readonly context: Context
  readonly authentication: Authentication
  /** Undefined if an external issuer is configured. */
  readonly authorizationServer: AuthorizationServer | undefined
  readonly mutations: MutationPipeline
  readonly rate: RateLimit
  readonly concurrency: ConcurrencyLimits
  readonly turns: Turns
  readonly tls: TlsConfig | undefined
  readonly connections: ConnectionRules
  readonly bodies: BodyBudget
  /** The keys of the transparency log, and the witnesses that cosign it. */
  readonly transparency: { readonly keys: LogKeys; readonly witnesses: readonly PolicyWitness[] }
  readonly log: Logger
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
  /** Called for every response, for metrics. */
  readonly onAnswer: (answer: { route: string; method: string; status: number; milliseconds: number }) => void
}
