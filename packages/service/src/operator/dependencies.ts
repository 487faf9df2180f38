import type { Database } from '@agent-exchange/database'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import type { BodyBudget } from '../http/body-budget.ts'
import type { ConnectionRules } from '../http/connection-limit.ts'
import type { Context } from '../kernel/context.ts'
import type { RotatingKeys } from '../platform-keys/rotating-keys.ts'
import type { WebhookKeys } from '../platform-keys/webhook-keys.ts'

/** Dependencies of the operator API. */
export interface OperatorDependencies {
  readonly db: Database
  readonly context: Context
  /** Compatible with a pino logger. */
  readonly log: { error(fields: object, message: string): void }
  readonly webhookKeys: Pick<WebhookKeys, 'directory' | 'rotate' | 'list' | 'revoke' | 'currentKeyId'>
  /** Keys that sign tokens, platform statements and checkpoints. */
  readonly rotatingKeys: Readonly<
    Record<'token' | 'statement' | 'log', Pick<RotatingKeys, 'rotate' | 'list' | 'revoke'>>
  >
  /** The master keys that this process has now. */
  readonly masterKeys: () => MasterKeys
  /** The running configuration, without secrets. */
  readonly settings: readonly { readonly name: string; readonly value: string }[]
  /** Compatible with a prom-client registry. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
  readonly isReady: () => boolean
  readonly connections: ConnectionRules
  readonly bodies: BodyBudget
  /** PEM text. Without TLS the listener must be on loopback. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}
