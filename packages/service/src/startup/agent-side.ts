import { listenAddress } from '@agent-exchange/server/settings'
import { createAgentServer } from '../http/agent-server.ts'
import { createAgentBodyBudget } from '../http/body-budget.ts'
import { createConcurrencyLimits } from '../http/concurrency-limit.ts'
import type { ConnectionRules } from '../http/connection-limit.ts'
import { openReadReplica } from '../http/open-read-replica.ts'
import { registerPages } from '../http/pages/register-pages.ts'
import { createSharedRateLimit } from '../http/shared-rate-limit.ts'
import { toAnswer } from '../http/to-answer.ts'
import { createMutationPipeline } from '../kernel/mutation-pipeline.ts'
import type { Tracing } from '../kernel/tracing.ts'
import { createTurns } from '../kernel/turns.ts'
import { createAuthentication } from './authentication.ts'
import type { Base } from './base.ts'
import type { Exchange } from './open-exchange.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import type { WatchedFiles } from './watched-files.ts'

interface AgentSideSettings extends Pick<WatchedFiles, 'tls'> {
  readonly connections: ConnectionRules
  readonly tracing: Tracing | undefined
}

export type AgentSide = Awaited<ReturnType<typeof createAgentSide>>

/** The agent API, with its own authorization server or another one. */
export async function createAgentSide(
  base: Base,
  exchange: Exchange,
  metrics: ProcessMetrics,
  { tls, connections, tracing }: AgentSideSettings,
) {
  const { config, db, clock, log } = base
  const { profile, publicUrl, witnesses } = config
  const replica = await openReplica(base, metrics)
  const { authentication, authorizationServer, hasProxySecret, tokenUrl } = createAuthentication(
    base,
    exchange,
    { clientCa: () => tls().clientCa, replica },
  )
  const { onCommitted } = metrics.counters
  const mutations = createMutationPipeline(db, toAnswer, {
    onCommitted,
    onBatch: metrics.writes.onBatch,
    tracing,
  })
  metrics.writes.watch(mutations)
  const rateLimit = createSharedRateLimit({ db, profile, clock })
  const app = createAgentServer({
    db,
    context: exchange.context,
    log,
    onAnswer: metrics.onAnswer,
    tracing,
    connections,
    bodies: createAgentBodyBudget(profile),
    replica,
    transparency: { keys: exchange.logKeys, witnesses },
    mutations,
    tls: config.tls,
    rate: rateLimit.limit,
    concurrency: createConcurrencyLimits(profile),
    turns: createTurns({ milliseconds: profile['O-13'].turn_milliseconds, clock }),
    authentication,
    authorizationServer,
  })
  // First of all, so that the header is removed from every request.
  app.server.prependListener('request', hasProxySecret)
  registerPages(app, { publicUrl, profile, tokenUrl })
  return { app, mutations, rateLimit }
}

async function openReplica({ config, db, clock, log, cleanup }: Base, { registry }: ProcessMetrics) {
  const { databaseReadUrl } = config
  if (databaseReadUrl === undefined) return undefined
  return cleanup.use(await openReadReplica(databaseReadUrl, { primary: db, clock, log, registry }))
}

/** Requests under way are answered before the listener ends, and what they began is committed. */
export async function listenForAgents(
  { app, mutations }: AgentSide,
  { config: { host, port }, cleanup }: Base,
): Promise<string> {
  cleanup.defer(mutations.idle)
  const url = await app.listen({ host: listenAddress(host), port })
  cleanup.defer(() => app.close())
  return url
}
