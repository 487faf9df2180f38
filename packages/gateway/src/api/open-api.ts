import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { FastifyInstance } from 'fastify'
import type { HostedAgents } from '../agents/hosted-agent.ts'
import type { ContentStore } from '../content/content-store.ts'
import { deleteFinishedItems } from '../inbox/inbox-items.ts'
import type { LeaseWaiters } from '../inbox/lease-waiters.ts'
import type { SecretWrap } from '../push/push-endpoints.ts'
import type { PushSettings } from '../push/push-sender.ts'
import type { PushWorkerSettings } from '../push/push-worker.ts'
import { deleteOldSentDrafts } from '../stores/draft-store.ts'
import type { TokenSource } from '../systems/access-tokens.ts'
import { createCallLimits } from '../systems/call-limits.ts'
import { identifyCallers } from '../systems/identify-caller.ts'
import { rememberLastUse } from '../systems/last-use.ts'
import { deleteOldProgramDrafts } from '../systems/program-drafts.ts'
import { createApiServer, type ApiServerSettings } from './api-server.ts'
import { createRefusalDelay } from './delay-refusals.ts'
import { deleteOldRequests } from './idempotent-requests.ts'

export interface ApiSettings extends Pick<
  ApiServerSettings,
  'publicUrl' | 'log' | 'listener' | 'tracing' | 'desk' | 'onAnswer'
> {
  readonly db: Database
  readonly agents: HostedAgents
  readonly contents: ContentStore
  readonly leases: LeaseWaiters
  readonly clock: Clock
  readonly onPush?: PushWorkerSettings['onPush']
  /** Counts what periodic tasks delete. */
  readonly counted?: (what: 'items' | 'drafts' | 'answers', task: PeriodicTask) => PeriodicTask
  /** Pushes items to endpoints of systems. Without it, systems only take them. */
  readonly push?: PushSettings | undefined
  readonly box: SecretWrap
  /** Whether a peer is a proxy that ends TLS. */
  readonly isProxy?: (address: string | undefined) => boolean
  /** The company's identity provider, with the audience of tokens for the API. */
  readonly tokens?: { readonly source: TokenSource; readonly audience: string } | undefined
}

export interface GatewayApi extends AsyncDisposable {
  /** Not listening yet. */
  readonly app: FastifyInstance
  /** For the periodic tasks of the process. */
  readonly tasks: readonly PeriodicTask[]
}

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600

/** The API for the company's systems with everything that it keeps. */
export async function openApi(settings: ApiSettings): Promise<GatewayApi> {
  const { db, box, agents, contents, leases, clock, tokens, push, publicUrl, log, listener, tracing, desk } =
    settings
  const { counted = (_what: string, task: PeriodicTask) => task } = settings
  const now = () => new Date(clock.now())
  const lastUse = rememberLastUse(db)
  const app = createApiServer({
    parts: { db, box, agents, contents, leases, now, log },
    identify: identifyCallers(db, { lastUse, tokens: tokens && { ...tokens, kind: 'system', now } }),
    limits: createCallLimits(() => clock.monotonicMilliseconds()),
    delayRefusal: createRefusalDelay(
      () => clock.monotonicMilliseconds(),
      settings.isProxy && { isProxy: settings.isProxy },
    ),
    publicUrl,
    log,
    desk,
    ...(listener && { listener }),
    ...(tracing && { tracing }),
    onAnswer: settings.onAnswer,
  })
  // Loaded only where systems are pushed to: its HTTP client takes much memory.
  const { startPushWorker } = push ? await import('../push/push-worker.ts') : {}
  const pushing =
    push &&
    startPushWorker?.({
      ...push,
      box,
      db,
      leases,
      now,
      log,
      ...(tracing && { tracing }),
      ...(settings.onPush && { onPush: settings.onPush }),
    })
  return {
    app,
    tasks: [
      { name: 'record the last use of API keys', everySeconds: MINUTE_SECONDS, run: () => lastUse.write() },
      counted(
        'items',
        hourly('delete finished inbox items', (signal) => deleteFinishedItems(db, signal)),
      ),
      counted(
        'answers',
        hourly('delete old answers', (signal) => deleteOldRequests(db, signal)),
      ),
      counted(
        'drafts',
        hourly('delete old drafts of systems', () => deleteOldProgramDrafts(db, now())),
      ),
      counted(
        'drafts',
        hourly('delete drafts that were sent long ago', (signal) => deleteOldSentDrafts(db, signal)),
      ),
    ],
    async [Symbol.asyncDispose]() {
      // Requests that wait get an empty answer, so that the listener can close.
      leases.stop()
      await pushing?.[Symbol.asyncDispose]()
      await app.close()
      await lastUse.write().catch(() => undefined)
    },
  }
}

const hourly = (name: string, run: PeriodicTask['run']): PeriodicTask => ({
  name,
  everySeconds: HOUR_SECONDS,
  run,
})
