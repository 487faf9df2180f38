import type { Database } from '../db/database.ts'
import type { BodyBudget } from '../http/body-budget.ts'
import type { ConnectionRules } from '../http/connection-limit.ts'
import type { Context } from '../kernel/context.ts'
import type { RotatingKeys } from '../kernel/platform-keys-rotating.ts'
import type { WebhookKeys } from '../kernel/platform-keys-webhook.ts'

/** What the operator plane needs of the rest of the service. */
export interface OperatorDependencies {
  readonly db: Database
  readonly context: Context
  /** A pino logger fits. */
  readonly log: { error(fields: object, message: string): void }
  readonly webhookKeys: Pick<WebhookKeys, 'directory' | 'rotate' | 'list' | 'revoke' | 'currentKeyId'>
  /** The keys that sign tokens and statements. */
  readonly rotatingKeys: Readonly<
    Record<'token' | 'statement', Pick<RotatingKeys, 'rotate' | 'list' | 'revoke'>>
  >
  /** A prom-client registry fits. Counters are kept as things happen; nothing here scans a table. */
  readonly metrics: { readonly contentType: string; metrics(): Promise<string> }
  readonly isReady: () => boolean
  readonly connections: ConnectionRules
  readonly bodies: BodyBudget
  /** PEM texts. Without them the listener is for loopback. */
  readonly tls?: { readonly certificate: string; readonly key: string }
}
