import type { Transport } from '../wire/wire.ts'
import type { TokenEndpoint } from '../wire/access-token.ts'
import type { WebhookReceiver } from '../service/webhook-receiver.ts'
import type { Agent } from '../service/agent.ts'
import type { Eventually } from './eventually.ts'
import type { Hooks } from './hooks.ts'

/** How the deployment decides open points: by id, then by setting. */
export type OpenPoints = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What a check works with. */
export interface Context {
  readonly baseUrl: string
  readonly endpoint: TokenEndpoint
  readonly send: Transport
  /** Agents of the three organizations: the sender, the recipient, and a third one that is no party. */
  readonly sender: Agent
  readonly recipient: Agent
  readonly outsider: Agent
  readonly openPoints: OpenPoints
  readonly hooks: Hooks
  /** Undefined if the configuration names no receiver. */
  readonly webhooks: WebhookReceiver | undefined
  /** Concludes a check that examines all answers, also those of the runs that this one continues. */
  examined(check: string): void
  newId(prefix: string): string
  readonly eventually: Eventually
  /** The time of the service, as far as the kit knows. */
  now(): string
  /** The clock of the service after the hook moved it. */
  advance(seconds: number): Promise<void>
  /** Notes how an open point is decided, which is never judged. */
  note(openPoint: string, observed: string): void
}
