import type { Database } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { TracingConfig } from '@agent-exchange/server/settings'
import type { RequestSpans, TracingTools } from '@agent-exchange/server/tracing'
import type { Logger } from 'pino'
import type { AgentHosting } from '../agents/host-agents.ts'
import type { GatewayConfig } from '../config/read-config.ts'
import type { createGatewayMetrics } from './gateway-metrics.ts'
import { watchKeyEnds } from './key-ends.ts'
import { mailTask } from './mail/mail-task.ts'
import { forgetDeadlines } from './response-deadlines.ts'

const HOUR_SECONDS = 3_600

interface OperationsSettings {
  readonly config: Pick<GatewayConfig, 'mail' | 'publicUrl'>
  readonly db: Database
  readonly agents: AgentHosting
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: ReturnType<typeof createGatewayMetrics>
  readonly isModuleAway: () => boolean
}

/** What tells people that the gateway needs them: keys that end, mail. */
export async function openOperations(
  settings: OperationsSettings,
): Promise<AsyncDisposable & { readonly tasks: readonly PeriodicTask[] }> {
  const { config, db, agents, clock, log, metrics, isModuleAway } = settings
  const now = () => new Date(clock.now())
  const keyEnds = watchKeyEnds(agents, log)
  const transport = config.mail && (await openTransport(config.mail))
  const tasks: PeriodicTask[] = [
    {
      ...keyEnds.task,
      async run(signal) {
        await keyEnds.task.run(signal)
        metrics.setKeyEnds(keyEnds.list())
      },
    },
    { name: 'forget deadlines', everySeconds: HOUR_SECONDS, run: () => forgetDeadlines(db, now()) },
  ]
  if (config.mail && transport)
    tasks.push(
      mailTask({
        db,
        agents,
        isLeading: () => agents.isLeading(),
        keyEnds: () => keyEnds.list(),
        isModuleAway,
        logFindings: metrics.logFindings,
        transport,
        recipients: config.mail.recipients,
        publicUrl: config.publicUrl,
        now,
        log,
        onMail: metrics.onMail,
      }),
    )
  return {
    tasks,
    async [Symbol.asyncDispose]() {
      transport?.[Symbol.dispose]()
    },
  }
}

/** Loaded where a mail server is set: its code costs memory. */
async function openTransport(mail: NonNullable<GatewayConfig['mail']>) {
  const { mailTransport } = await import('@agent-exchange/server/mail-transport')
  return mailTransport(mail)
}

/** Loaded where a collector is set: without one, no code of OpenTelemetry's SDK runs. */
export async function openRequestSpans(
  config: TracingConfig | undefined,
  tools: TracingTools,
  cleanup: AsyncDisposableStack,
): Promise<RequestSpans | undefined> {
  if (!config) return undefined
  const { createRequestSpans, openTracer } = await import('@agent-exchange/server/tracing')
  return createRequestSpans(cleanup.use(await openTracer(config, tools)).tracer)
}
