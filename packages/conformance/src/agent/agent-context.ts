import type { Driver } from './driver.ts'
import type { ScriptedExchange } from './scripted-exchange.ts'
import type { ScriptedPackages } from './scripted-packages.ts'
import type { ScriptedStream } from './scripted-stream.ts'
import type { SignedWebhook } from './signed-webhook.ts'
import type { WebhookKeys } from './webhook-keys.ts'

/** What a check of an agent works with. */
export interface AgentContext {
  readonly driver: Driver
  readonly exchange: ScriptedExchange
  readonly stream: ScriptedStream
  readonly keys: WebhookKeys
  readonly packages: ScriptedPackages
  /** The address that signatures cover. Throws NotJudged if the agent receives no webhooks. */
  webhookUrl(): Promise<string>
  /** Delivers to the agent and returns the status of its answer. */
  deliver(webhook: SignedWebhook): Promise<number>
  /** The ids of the events that the agent handled so far, in its order. Throws NotJudged if it cannot say. */
  handled(): Promise<readonly string[]>
  newId(prefix: string): string
  note(openPoint: string, observed: string): void
}
