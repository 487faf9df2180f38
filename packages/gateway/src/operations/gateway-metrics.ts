import type { Database } from '@agent-exchange/database'
import type { ReceiverReport } from '@agent-exchange/sdk'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { createPoolMetrics } from '@agent-exchange/server/pool-metrics'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { KeyEnd } from './key-ends.ts'
import { openDeadlines } from './response-deadlines.ts'

const EVERY_SECONDS = 15
/** Requests for items wait for up to 30 seconds. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const DELETED = ['content', 'items', 'drafts', 'answers'] as const

export interface Answered {
  readonly method: string
  /** The template: ids are in no label. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
  readonly problem: string | undefined
}

interface MetricSources {
  readonly db: Database
  readonly now: () => Date
}

/** What `/metrics` shows. Scraping does not query the database. docs/gateway.md lists all of them. */
export function createGatewayMetrics({ db, now }: MetricSources) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers })
  const byAgent = (name: string, help: string) => gauge(name, help, ['agent'])
  const ready = gauge('aex_gateway_ready', '1 while the gateway is ready')
  const leading = gauge('aex_gateway_leading', '1 while this instance polls, handles and monitors')
  const agents = gauge('aex_gateway_agents', 'Agents that this instance runs')
  const events = gauge(
    'aex_gateway_events',
    'Events of agents that wait or were set aside; see aex gateway event list',
    ['agent', 'state'],
  )
  const outbox = byAgent('aex_gateway_outbox', 'Packages that the exchange has not accepted yet')
  const outboxAge = byAgent('aex_gateway_outbox_oldest_seconds', 'Age of the oldest of these packages')
  const inbox = byAgent('aex_gateway_inbox', 'Received packages that no system has finished yet')
  const inboxAge = byAgent('aex_gateway_inbox_oldest_seconds', 'Age of the oldest of these packages')
  const overdue = byAgent('aex_gateway_deadlines_passed', 'Received packages without an answer in time')
  const due = byAgent(
    'aex_gateway_deadline_timestamp_seconds',
    'Next deadline of a received package without an answer',
  )
  const forks = byAgent('aex_gateway_log_forks', 'Proofs that an exchange showed two histories of its log')
  const keyEnd = gauge(
    'aex_gateway_key_expiry_timestamp_seconds',
    'End of the key of an agent that has no successor',
    ['agent', 'use'],
  )
  const reports = new Counter({
    name: 'aex_gateway_receiver_reports_total',
    help: 'Reports of receivers: refused webhooks, trouble, gaps, set-aside events, refused packages',
    labelNames: ['agent', 'kind'],
    registers,
  })
  const findings = new Counter({
    name: 'aex_gateway_log_findings_total',
    help: 'Findings of log monitors: what the log shows contradicts what the agent saw',
    labelNames: ['agent', 'kind'],
    registers,
  })
  const found = new Map<string, LogFinding>()
  const mails = new Counter({
    name: 'aex_gateway_mails_total',
    help: 'Mails about trouble and news: sent, failed',
    labelNames: ['result'],
    registers,
  })

  const requests = new Histogram({
    name: 'aex_gateway_request_seconds',
    help: 'Time to answer requests, by route; status 499: the caller went away',
    labelNames: ['method', 'route', 'status'],
    buckets: REQUEST_SECONDS,
    registers,
  })
  const problems = new Counter({
    name: 'aex_gateway_problems_total',
    help: 'Problems answered by the API and the MCP server',
    labelNames: ['code'],
    registers,
  })
  const pushes = new Counter({
    name: 'aex_gateway_pushes_total',
    help: 'Pushes of items to systems: accepted, failed',
    labelNames: ['result'],
    registers,
  })
  const deletions = new Counter({
    name: 'aex_gateway_deleted_total',
    help: 'Rows that this instance deleted on time: content, inbox items, drafts, answers',
    labelNames: ['what'],
    registers,
  })
  // A counter that begins at 0 shows its first event as an increase.
  for (const result of ['accepted', 'failed']) pushes.inc({ result }, 0)
  for (const what of DELETED) deletions.inc({ what }, 0)
  createPoolMetrics(registry, db)

  async function collect(): Promise<void> {
    const at = now()
    const waiting = await db<{ agent_id: string; state: string; count: number }[]>`
      select agent_id, state, count(*)::integer as count from agent_event
      where state in ('pending', 'set_aside') group by agent_id, state`
    events.reset()
    for (const { agent_id, state, count } of waiting) events.set({ agent: agent_id, state }, count)
    const unsent = await db<Waiting[]>`
      select agent_id, count(*)::integer as count, min(created_at) as oldest from agent_outbox
      where state not in ('accepted', 'refused') group by agent_id`
    show(unsent, { count: outbox, age: outboxAge }, at)
    const unread = await db<Waiting[]>`
      select agent_id, count(*)::integer as count, min(received_at) as oldest from inbox_item
      where state = 'waiting' group by agent_id`
    show(unread, { count: inbox, age: inboxAge }, at)
    await collectDeadlines(at)
    const forked = await db<{ agent_id: string; count: number }[]>`
      select agent_id, count(*)::integer as count from agent_split_view group by agent_id`
    forks.reset()
    for (const { agent_id, count } of forked) forks.set({ agent: agent_id }, count)
  }

  async function collectDeadlines(at: Date): Promise<void> {
    const open = Map.groupBy(await openDeadlines(db, at), ({ agent_id }) => agent_id)
    overdue.reset()
    due.reset()
    for (const [agent, deadlines] of open) {
      const next = deadlines.find(({ due_at }) => Date.parse(due_at) > at.getTime())
      const passed = deadlines.filter(({ due_at }) => Date.parse(due_at) <= at.getTime())
      overdue.set({ agent }, passed.length)
      if (next) due.set({ agent }, Date.parse(next.due_at) / 1_000)
    }
  }

  return {
    registry,
    setReady: (isReady: boolean) => ready.set(Number(isReady)),
    setAgents(running: number, isLeading: boolean): void {
      agents.set(running)
      leading.set(Number(isLeading))
    },
    setKeyEnds(ends: readonly KeyEnd[]): void {
      keyEnd.reset()
      for (const { agentId, use, endsAt } of ends)
        keyEnd.set({ agent: agentId, use }, Date.parse(endsAt) / 1_000)
    },
    onLogFinding(agentId: string, kind: string): void {
      findings.inc({ agent: agentId, kind })
      found.set(`${agentId}/${kind}`, { agentId, kind })
    },
    /** Since the start of the process. */
    logFindings: () => [...found.values()],
    onAnswer({ method, route, status, milliseconds, problem }: Answered): void {
      requests.observe({ method, route, status: String(status) }, milliseconds / 1_000)
      if (problem !== undefined) problems.inc({ code: problem })
    },
    onPush: (result: 'accepted' | 'failed') => pushes.inc({ result }),
    /** The task, whose result is how many rows it deleted. */
    counted: (what: (typeof DELETED)[number], task: PeriodicTask): PeriodicTask => ({
      ...task,
      async run(signal) {
        const count = await task.run(signal)
        if (typeof count === 'number') deletions.inc({ what }, count)
        return count
      },
    }),
    onMail: (result: 'sent' | 'failed') => mails.inc({ result }),
    onReport: (agentId: string, { kind }: ReceiverReport) => reports.inc({ agent: agentId, kind }),
    task: {
      name: 'metrics',
      everySeconds: EVERY_SECONDS,
      atStart: true,
      run: collect,
    } satisfies PeriodicTask,
  }
}

export interface LogFinding {
  readonly agentId: string
  /** A code of the monitor. */
  readonly kind: string
}

interface Waiting {
  readonly agent_id: string
  readonly count: number
  readonly oldest: string
}

function show(rows: readonly Waiting[], { count, age }: { count: Gauge; age: Gauge }, now: Date): void {
  count.reset()
  age.reset()
  for (const row of rows) {
    const agent = { agent: row.agent_id }
    count.set(agent, row.count)
    age.set(agent, Math.max(0, (now.getTime() - Date.parse(row.oldest)) / 1_000))
  }
}
