import { listHolds, placeHold, releaseHold, type HoldChange } from '@agent-exchange/gateway'
import { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { agentOption, byOption, gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

interface OfAgent extends Json {
  readonly agent: string
}

interface Change extends OfAgent {
  readonly by: string
  readonly reason: string
}

export function gatewayHoldCommand(): Command {
  const place = changing('place', 'Keep the content of a thread beyond its retention').action(placeOne)
  const release = changing('release', 'End a hold: content that is due is deleted').action(releaseOne)
  const list = gatewayLeaf('list', 'Threads that are held', 'hold list --agent agent_planner')
    .addOption(agentOption())
    .action(listAll)
  return new Command('hold')
    .description('Legal holds; each is an entry of the access record')
    .addCommand(place)
    .addCommand(release)
    .addCommand(list)
}

function changing(name: string, description: string): Command {
  const example = `hold ${name} thread_7f… --agent agent_planner --by "Ida Berg" --reason "case 2026-14"`
  return gatewayLeaf(name, description, example)
    .argument('<thread_id>', 'thread of the agent')
    .addOption(agentOption())
    .addOption(byOption())
    .requiredOption('--reason <text>', 'why; it stays in the access record')
}

const changeOf = (threadId: string, { agent, by, reason }: Change): HoldChange => ({
  agentId: agent,
  threadId,
  by,
  reason,
})

async function placeOne(threadId: string, options: Change): Promise<void> {
  const isNew = await withGateway(async (gateway) => {
    await requireAgent(gateway, options.agent)
    return placeHold(gateway.db, gateway.now(), changeOf(threadId, options))
  })
  if (options.json) return console.log(visibleJson({ thread_id: threadId, held: true, is_new: isNew }))
  console.log(visible(isNew ? `${threadId} is held.` : `${threadId} was held already.`))
}

async function releaseOne(threadId: string, options: Change): Promise<void> {
  const wasHeld = await withGateway(({ db, now }) => releaseHold(db, now(), changeOf(threadId, options)))
  if (!wasHeld)
    throw new CommandFailure(
      `${threadId} is not held. List holds: ${aexStep('gateway', 'hold', 'list', '--agent', options.agent)}`,
    )
  if (options.json) return console.log(visibleJson({ thread_id: threadId, held: false }))
  console.log(visible(`${threadId} is no longer held.`))
}

async function listAll({ agent, json }: OfAgent): Promise<void> {
  const holds = await withGateway(async (gateway) => {
    await requireAgent(gateway, agent)
    return listHolds(gateway.db, agent)
  })
  const rows = holds.map(({ threadId, reason, placedBy, placedAt }) => ({
    thread_id: threadId,
    reason,
    placed_by: placedBy,
    placed_at: placedAt,
  }))
  if (json) return console.log(visibleJson(rows))
  if (rows.length === 0) console.log('No holds.')
  for (const { thread_id, reason, placed_by, placed_at } of rows)
    console.log(visible(`${thread_id}  ${placed_at}  ${placed_by}: ${reason}`))
}
