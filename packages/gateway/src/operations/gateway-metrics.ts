import type { Database } from '@agent-exchange/database'
import type { ReceiverReport } from '@agent-exchange/sdk'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'

const EVERY_SECONDS = 15

/** What `/metrics` shows. Scraping does not query the database. */
export function createGatewayMetrics(db: Database) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })
  const ready = gauge('aex_gateway_ready', '1 while the gateway is ready')
  const leading = gauge('aex_gateway_leading', '1 while this instance polls, handles and monitors')
  const agents = gauge('aex_gateway_agents', 'Agents that this instance runs')
  const events = gauge('aex_gateway_events', 'Events of agents that wait or were set aside', [
    'agent',
    'state',
  ])
  const outbox = gauge('aex_gateway_outbox', 'Packages that the exchange has not accepted yet', ['agent'])
  const reports = new Counter({
    name: 'aex_gateway_receiver_reports_total',
    help: 'Reports of receivers: refused webhooks, trouble, gaps, set-aside events, refused packages',
    labelNames: ['agent', 'kind'],
    registers: [registry],
  })

  async function collect(): Promise<void> {
    const waiting = await db<{ agent_id: string; state: string; count: number }[]>`
      select agent_id, state, count(*)::integer as count from agent_event
      where state in ('pending', 'set_aside') group by agent_id, state`
    events.reset()
    for (const { agent_id, state, count } of waiting) events.set({ agent: agent_id, state }, count)
    const unsent = await db<{ agent_id: string; count: number }[]>`
      select agent_id, count(*)::integer as count from agent_outbox
      where state not in ('accepted', 'refused') group by agent_id`
    outbox.reset()
    for (const { agent_id, count } of unsent) outbox.set({ agent: agent_id }, count)
  }

  return {
    registry,
    setReady: (isReady: boolean) => ready.set(Number(isReady)),
    setAgents(running: number, isLeading: boolean): void {
      agents.set(running)
      leading.set(Number(isLeading))
    },
    onReport: (agentId: string, { kind }: ReceiverReport) => reports.inc({ agent: agentId, kind }),
    task: {
      name: 'metrics',
      everySeconds: EVERY_SECONDS,
      atStart: true,
      run: collect,
    } satisfies PeriodicTask,
  }
}
