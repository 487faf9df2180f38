import type { Database } from '@agent-exchange/database'
import type { ReceiveLimits, Receiver, ReceiverReport } from '@agent-exchange/sdk'
import { monitorLog } from '@agent-exchange/sdk/internal'
import { holdLock } from '@agent-exchange/server/session-lock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { Logger } from 'pino'
import type { ContentStore } from '../content/content-store.ts'
import { lockNumber } from '../stores/agent-lock.ts'
import { openPostgresMonitorState } from '../stores/agent-states.ts'
import { EVENT_CHANNEL, openPostgresInbox } from '../stores/inbox.ts'
import { listAgents, type RegisteredAgent } from './agent-registry.ts'
import type { HostedAgent, HostedAgents } from './hosted-agent.ts'
import { openHostedAgent, type AgentDependencies } from './open-agent.ts'
import { receivePackage } from './receive-package.ts'

/** How soon an agent that another process added runs here. */
const REFRESH_SECONDS = 2
const RESUME_SECONDS = 30
const MONITOR_SECONDS = 300
const OUTBOX_KEPT_MS = 30 * 86_400_000

export interface HostingOptions extends AgentDependencies {
  /** For LISTEN and the lock: leads to the server without a pooler. */
  readonly sessions: Database
  readonly contents: ContentStore
  readonly log: Logger
  /** Base URL of the webhook listener. Undefined: the agents poll. */
  readonly webhookUrl?: string
  readonly limits?: Partial<ReceiveLimits>
  readonly onReport?: (agentId: string, report: ReceiverReport) => void
  readonly onLogFinding?: (agentId: string, kind: string) => void
}

interface Running extends HostedAgent {
  readonly receiver: Receiver
  readonly access: string
}

export interface AgentHosting extends HostedAgents, AsyncDisposable {
  /** Whether this instance polls, handles and monitors. Any instance takes webhooks. */
  isLeading(): boolean
  receiverOf(agentId: string): Receiver | undefined
  /** Opens agents that were added since. */
  refresh(): Promise<void>
  readonly tasks: readonly PeriodicTask[]
}

/**
 * Runs the agents of the database. One instance of all leads, by a session lock that another one takes within seconds
 * after its end: it polls, handles events, resumes the outbox and monitors the log.
 */
export async function hostAgents(options: HostingOptions): Promise<AgentHosting> {
  const { db, sessions, contents, log, now, webhookUrl, limits } = options
  const running = new Map<string, Running>()
  let isLeading = false
  let changing: Promise<void> = Promise.resolve()

  async function open(registered: RegisteredAgent): Promise<Running> {
    const { agentId } = registered
    const hosted = await openHostedAgent(options, registered)
    const receiver = hosted.agent.onPackage(receivePackage(hosted, contents, now), {
      inbox: openPostgresInbox(db, agentId, { isAlone: () => isLeading }),
      onReport: (report) => onReport(agentId, report),
      ...(webhookUrl !== undefined && { publicUrl: webhookAddress(webhookUrl, agentId) }),
      ...(limits && { limits }),
    })
    return { ...hosted, receiver, access: accessOf(registered) }
  }

  function onReport(agentId: string, report: ReceiverReport): void {
    const error = 'error' in report ? codeOf(report.error) : undefined
    log.warn({ agent: agentId, report: report.kind, error }, 'receiver report')
    options.onReport?.(agentId, report)
  }

  async function refresh(): Promise<void> {
    const listed = (await listAgents(db)).filter(({ clientId }) => clientId !== '')
    for (const registered of listed) {
      const known = running.get(registered.agentId)
      if (known?.access === accessOf(registered)) continue
      await known?.receiver.stop()
      running.set(registered.agentId, await open(registered))
      log.info({ agent: registered.agentId }, 'agent opened')
    }
    if (isLeading) await Promise.all([...running.values()].map(startOne))
  }

  async function startOne({ agentId, receiver }: Running): Promise<void> {
    await receiver.start()
    if (webhookUrl === undefined) return
    await receiver
      .ensureEndpoint(webhookAddress(webhookUrl, agentId))
      .catch((error: unknown) =>
        log.warn({ agent: agentId, error: codeOf(error) }, 'the webhook address is not registered yet'),
      )
  }

  const all = () => [...running.values()]
  /** One change after the other: a lock that flickers never leaves a receiver running. */
  const inTurn = (work: () => Promise<unknown>) =>
    (changing = changing
      .then(work)
      .then(() => undefined)
      .catch((error: unknown) => log.error({ error: codeOf(error) }, 'agents could not be changed')))

  const leader = holdLock(sessions, lockNumber('leader'), (isHeld) => {
    isLeading = isHeld
    log.info({ leading: isHeld }, isHeld ? 'this instance leads' : 'this instance no longer leads')
    void inTurn(isHeld ? refresh : () => Promise.all(all().map(({ receiver }) => receiver.stop())))
  })
  await inTurn(refresh)
  await sessions.listen(
    EVENT_CHANNEL,
    (agentId) => running.get(agentId)?.receiver.wake(),
    () => all().forEach(({ receiver }) => receiver.wake()),
  )

  const whileLeading = (work: (agent: Running) => Promise<unknown>) => async (signal: AbortSignal) => {
    for (const agent of all()) {
      if (!leader.isHeld() || signal.aborted) return
      await work(agent).catch((error: unknown) =>
        log.warn({ agent: agent.agentId, error: codeOf(error) }, 'background work failed and is repeated'),
      )
    }
  }

  return {
    list: all,
    find: (agentId) => running.get(agentId),
    isLeading: () => isLeading,
    receiverOf: (agentId) => running.get(agentId)?.receiver,
    refresh: () => inTurn(refresh),
    tasks: [
      { name: 'agents', everySeconds: REFRESH_SECONDS, run: () => inTurn(refresh) },
      {
        name: 'outbox',
        everySeconds: RESUME_SECONDS,
        run: whileLeading(async ({ agent, outbox }) => {
          await agent.resume()
          await outbox.prune(new Date(now().getTime() - OUTBOX_KEPT_MS).toISOString())
        }),
      },
      {
        name: 'log monitor',
        everySeconds: MONITOR_SECONDS,
        run: whileLeading(async ({ agentId, agent }) => {
          const states = openPostgresMonitorState(db, agentId)
          const result = await monitorLog(agent.context, (await states.read()) ?? { threads: [], found: [] })
          if (!result) return
          await states.write(result.state)
          for (const { kind } of result.findings) {
            log.error({ agent: agentId, finding: kind }, 'the log shows an event that the agent never saw')
            options.onLogFinding?.(agentId, kind)
          }
        }),
      },
    ],
    async [Symbol.asyncDispose]() {
      await inTurn(() => Promise.all(all().map(({ receiver }) => receiver.stop())))
    },
  }
}

/** Where the exchange delivers the events of an agent. */
const webhookAddress = (base: string, agentId: string) => `${base}/agents/${agentId}`

const accessOf = ({ baseUrl, clientId, settings }: RegisteredAgent) =>
  JSON.stringify([baseUrl, clientId, settings])

/** A code or a name. Messages are not logged: they may quote what a peer wrote. */
function codeOf(error: unknown): string {
  if (error instanceof Error) return 'code' in error ? String(error.code) : error.name
  return typeof error
}
