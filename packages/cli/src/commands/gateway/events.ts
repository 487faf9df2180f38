import { listAgents, listEvents, retryEvents, type OpenGateway } from '@agent-exchange/gateway'
import { Command, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

const STATES = { 'set-aside': 'set_aside', waiting: 'pending' } as const

interface Selected extends Json {
  readonly agent?: string
}

const oneAgentOption = () => new Option('--agent <agent_id>', 'only this agent of the gateway')

export function gatewayEventCommand(): Command {
  const list = gatewayLeaf(
    'list',
    'Events that were set aside after their last attempt, or that wait',
    'event list',
    'event list --agent agent_planner --state waiting',
  )
    .addOption(oneAgentOption())
    .addOption(
      new Option('--state <state>', 'which events').choices(Object.keys(STATES)).default('set-aside'),
    )
    .action(listAll)
  const retry = gatewayLeaf(
    'retry',
    'Handle events again that were set aside; a running gateway begins within seconds',
    'event retry evt_7f…',
    'event retry --all --agent agent_planner',
  )
    .argument('[event_id]', 'event that was set aside')
    .option('--all', 'every event that was set aside')
    .addOption(oneAgentOption())
    .action(retryThem)
  return new Command('event')
    .description('Events of the exchange that the gateway handles for its agents')
    .addCommand(list)
    .addCommand(retry)
}

async function listAll({ agent, state, json }: Selected & { state: keyof typeof STATES }): Promise<void> {
  const events = await withGateway(async (gateway) =>
    listEvents(gateway.db, await agentIdsOf(gateway, agent), STATES[state]),
  )
  const rows = events.map((event) => ({
    agent_id: event.agentId,
    event_id: event.eventId,
    sequence: event.sequence,
    event_type: event.eventType,
    package_id: event.packageId,
    state,
    attempts: event.attempts,
    stored_at: event.storedAt,
    ...(event.reason !== undefined && { reason: event.reason }),
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0)
    return console.log(state === 'waiting' ? 'No event waits.' : 'No event was set aside.')
  for (const row of rows) {
    const about = `${row.agent_id}  ${row.sequence}  ${row.event_type} ${row.package_id}`
    console.log(visible(`${about}  ${row.stored_at}, ${row.attempts} attempts  ${row.event_id}`))
    if (row.reason !== undefined) console.log(visible(`  ${row.reason}`))
  }
  if (state === 'set-aside')
    console.log(`Handle them again: ${aexStep('gateway', 'event', 'retry')} EVENT_ID`)
}

async function retryThem(
  eventId: string | undefined,
  { agent, all = false, json }: Selected & { all?: boolean },
): Promise<void> {
  if ((eventId === undefined) === !all)
    throw new CommandFailure('Name one event, or give --all for every event that was set aside.')
  const which = eventId === undefined ? 'all' : { eventId }
  const retried = await withGateway(async (gateway) =>
    retryEvents(gateway.db, await agentIdsOf(gateway, agent), which),
  )
  if (retried === 0 && eventId !== undefined)
    throw new CommandFailure(
      `${eventId} was not set aside. List such events: ${aexStep('gateway', 'event', 'list')}`,
    )
  if (json) return console.log(visibleJson({ retried }))
  console.log(
    `${retried} ${retried === 1 ? 'event waits' : 'events wait'} again, each at its place in the stream.`,
  )
}

async function agentIdsOf(gateway: OpenGateway, agentId: string | undefined): Promise<readonly string[]> {
  if (agentId !== undefined) return [(await requireAgent(gateway, agentId)).agentId]
  return (await listAgents(gateway.db)).map((each) => each.agentId)
}
