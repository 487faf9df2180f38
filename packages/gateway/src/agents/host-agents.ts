import type { Database, Transaction } from '@agent-exchange/database'
import type { ReceiveLimits, Receiver, ReceiverReport } from '@agent-exchange/sdk'
import { monitorLog, type MonitorFinding } from '@agent-exchange/sdk/internal'
import { holdLock } from '@agent-exchange/server/session-lock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { withinTime } from '@agent-exchange/server/within-time'
import type { Logger } from 'pino'
import { traced, type WorkSpans } from '../operations/traced-work.ts'
import { lockNumber } from '../stores/agent-lock.ts'
import { openPostgresMonitorState } from '../stores/agent-states.ts'
import { EVENT_CHANNEL, openPostgresInbox } from '../stores/inbox.ts'
import { listAgents, type RegisteredAgent } from './agent-registry.ts'
import { backgroundPace, BackgroundWorkEnded } from './background-pace.ts'
import type { HostedAgent, HostedAgents } from './hosted-agent.ts'
import { openHostedAgent, type AgentDependencies } from './open-agent.ts'
import { receivePackage, type ReceivingParts } from './receive-package.ts'

/** How soon an agent that another process added runs here. */
const REFRESH_SECONDS = 2
const RESUME_SECONDS = 30
const MONITOR_SECONDS = 300
/** An agent that could not be opened is tried again after this time, or when its settings change. */
const REOPEN_MS = 30_000
/** A change of agents waits no longer for one that hangs, and goes on without it. */
const CHANGE_LIMIT_MS = 10_000
const OUTBOX_KEPT_MS = 30 * 86_400_000

export interface HostingOptions extends AgentDependencies, ReceivingParts {
  /** For LISTEN and the lock: leads to the server without a pooler. */
  readonly sessions: Database
  readonly log: Logger
  /** Base URL of the webhook listener. Undefined: the agents poll. */
  readonly webhookUrl?: string
  readonly limits?: Partial<ReceiveLimits>
  readonly tracing?: WorkSpans
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
  const { db, sessions, log, now, webhookUrl, limits, tracing } = options
  const running = new Map<string, Running>()
  const opening = new Map<string, Promise<void>>()
  const refused = new Map<string, { readonly access: string; readonly until: number }>()
  let isLeading = false
  let changing: Promise<void> = Promise.resolve()

  async function open(registered: RegisteredAgent): Promise<Running> {
    const { agentId } = registered
    const hosted = await openHostedAgent(options, registered)
    const receive = receivePackage(hosted, options)
    const receiver = hosted.agent.onPackage((received) => tracedStore(receive, received), {
      inbox: openPostgresInbox(db, agentId, { isAlone: () => isLeading }),
      onReport: (report) => onReport(agentId, report),
      ...(webhookUrl !== undefined && { publicUrl: webhookAddress(webhookUrl, agentId) }),
      ...(limits && { limits }),
    })
    const drafts = {
      ...hosted.drafts,
      send: (...given: Parameters<typeof hosted.drafts.send>) =>
        traced(tracing, 'send package', () => hosted.drafts.send(...given)),
    }
    return { ...hosted, drafts, receiver, access: accessOf(registered) }
  }

  /** The span is that of storing what was opened. */
  async function tracedStore(
    receive: ReturnType<typeof receivePackage>,
    received: Parameters<ReturnType<typeof receivePackage>>[0],
  ) {
    const store = await receive(received)
    return store && ((tx: Transaction) => traced(tracing, 'receive package', async () => store(tx)))
  }

  function onReport(agentId: string, report: ReceiverReport): void {
    const error = 'error' in report ? codeOf(report.error) : undefined
    log.warn({ agent: agentId, report: report.kind, error }, 'receiver report')
    options.onReport?.(agentId, report)
  }

  /** One that does not open is reported and tried again; the others run. */
  function opened(registered: RegisteredAgent): Promise<void> {
    const { agentId } = registered
    const known = opening.get(agentId)
    if (known) return known
    const access = accessOf(registered)
    const last = refused.get(agentId)
    if (last?.access === access && last.until > performance.now()) return Promise.resolve()
    const work = reopen(registered)
      .then(() => void refused.delete(agentId))
      .catch((error: unknown) => {
        refused.set(agentId, { access, until: performance.now() + REOPEN_MS })
        log.error(
          { agent: agentId, error: codeOf(error) },
          'the agent could not be opened, and is tried again',
        )
      })
      .finally(() => opening.delete(agentId))
    opening.set(agentId, work)
    return work
  }

  async function reopen(registered: RegisteredAgent): Promise<void> {
    const { agentId } = registered
    await running.get(agentId)?.receiver.stop()
    running.set(agentId, await open(registered))
    log.info({ agent: agentId }, 'agent opened')
  }

  async function refresh(): Promise<void> {
    const listed = (await listAgents(db)).filter(({ clientId }) => clientId !== '')
    const changed = listed.filter((each) => running.get(each.agentId)?.access !== accessOf(each))
    await withinTime(Promise.all(changed.map(opened)), CHANGE_LIMIT_MS)
    if (isLeading) await withinTime(Promise.all(all().map(startIfLeading)), CHANGE_LIMIT_MS)
  }

  async function startIfLeading(agent: Running): Promise<void> {
    await startOne(agent).catch((error: unknown) =>
      log.warn(
        { agent: agent.agentId, error: codeOf(error) },
        'the agent could not be started, and is tried again',
      ),
    )
    // The lock may have been lost meanwhile.
    if (!isLeading) await agent.receiver.stop()
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
  const stopAll = () => Promise.all(all().map(({ receiver }) => receiver.stop()))
  /** One change after the other: a lock that flickers never leaves a receiver running. */
  const inTurn = (work: () => Promise<unknown>) =>
    (changing = changing
      .then(work)
      .then(() => undefined)
      .catch((error: unknown) => log.error({ error: codeOf(error) }, 'agents could not be changed')))

  const leader = holdLock(sessions, lockNumber('leader'), (isHeld) => {
    isLeading = isHeld
    log.info({ leading: isHeld }, isHeld ? 'this instance leads' : 'this instance no longer leads')
    void inTurn(isHeld ? refresh : stopAll)
    // At once, whatever change is under way.
    if (!isHeld) void stopAll().catch(() => undefined)
  })
  await inTurn(refresh)
  await sessions.listen(
    EVENT_CHANNEL,
    (agentId) => running.get(agentId)?.receiver.wake(),
    () => all().forEach(({ receiver }) => receiver.wake()),
  )

  const whileLeading =
    (work: (agent: Running, pace: () => Promise<void>) => Promise<unknown>) =>
    async (signal: AbortSignal) => {
      const pace = backgroundPace(() => !leader.isHeld(), signal)
      for (const agent of all()) {
        if (!leader.isHeld() || signal.aborted) return
        await work(agent, pace).catch((error: unknown) => {
          if (error instanceof BackgroundWorkEnded) return
          log.warn({ agent: agent.agentId, error: codeOf(error) }, 'background work failed and is repeated')
        })
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
        run: whileLeading(async ({ agentId, agent }, onStep) => {
          const states = openPostgresMonitorState(db, agentId)
          const before = (await states.read()) ?? { threads: [], found: [] }
          const onFinding = ({ kind }: MonitorFinding) => {
            log.error({ agent: agentId, finding: kind }, 'the log shows an event that the agent never saw')
            options.onLogFinding?.(agentId, kind)
          }
          const result = await monitorLog(agent.context, before, { onFinding, onStep })
          if (!result) return
          await states.write(result.state)
          const { length: unwatched } = result.unwatched
          if (unwatched > 0)
            log.warn({ agent: agentId, unwatched }, 'the log monitor has no room for old threads')
        }),
      },
    ],
    async [Symbol.asyncDispose]() {
      isLeading = false
      await stopAll()
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
