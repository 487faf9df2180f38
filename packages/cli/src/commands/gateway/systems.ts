import {
  addSystem,
  ALL_AGENTS,
  isVerb,
  listSystems,
  revokeSystem,
  VERBS,
  type CompanySystem,
  type Verb,
} from '@agent-exchange/gateway'
import { Command, InvalidArgumentError, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'
import { recorded } from './recorded.ts'

export function gatewaySystemCommand(): Command {
  const add = gatewayLeaf(
    'add',
    'Let a program of the company use the API: prints its key once',
    'system add erp --agent agent_planner --may read,draft,send,inbox',
    'system add reports --agent "*" --may read --json',
  )
    .argument('<name>', 'what people call it, at most 100 characters', readName)
    .addOption(
      new Option(
        '--agent <agent_id...>',
        `agents that it acts for; "${ALL_AGENTS}" for all`,
      ).makeOptionMandatory(),
    )
    .addOption(
      new Option('--may <verbs>', `what it may do, separated by commas: ${VERBS.join(', ')}`)
        .argParser(readVerbs)
        .makeOptionMandatory(),
    )
    .action(addOne)
  const list = gatewayLeaf(
    'list',
    'Programs that have a key, and when it was last used',
    'system list',
  ).action(listAll)
  const revoke = gatewayLeaf(
    'revoke',
    'End the key of a program, effective with its next request',
    'system revoke system_4f…',
  )
    .argument('<system_id>', 'see: aex gateway system list')
    .action(revokeOne)
  return new Command('system')
    .description('Programs of the company that use the API')
    .addCommand(add)
    .addCommand(list)
    .addCommand(revoke)
}

const LONGEST_NAME = 100

function readName(text: string): string {
  const name = text.trim()
  if (name !== '' && name.length <= LONGEST_NAME) return name
  throw new InvalidArgumentError(`Give a name of 1 to ${LONGEST_NAME} characters.`)
}

function readVerbs(text: string): readonly Verb[] {
  const words = text.split(',').map((word) => word.trim())
  const verbs = words.filter(isVerb)
  if (verbs.length < words.length)
    throw new InvalidArgumentError(`Use ${VERBS.join(', ')}, separated by commas.`)
  return [...new Set(verbs)]
}

interface NewSystem extends Json {
  readonly agent: readonly string[]
  readonly may: readonly Verb[]
}

async function addOne(name: string, { agent, may, json }: NewSystem): Promise<void> {
  const { system, key } = await withGateway(async (gateway) => {
    for (const agentId of agent) if (agentId !== ALL_AGENTS) await requireAgent(gateway, agentId)
    return recorded(
      gateway,
      (tx) => addSystem(tx, { name, agents: [...new Set(agent)], verbs: may }),
      ({ system: { systemId, agents } }) => ({
        action: 'system.add',
        target: systemId,
        details: { name, agents, verbs: may },
      }),
    )
  })
  if (json) return console.log(visibleJson({ ...toJson(system), key }))
  console.log(visible(`${name} may ${may.join(', ')} for ${system.agents.join(', ')}.`))
  console.log(`  key     ${key}   (shown once; keep it secret)`)
  console.log(`  revoke  ${aexStep('gateway', 'system', 'revoke', system.systemId)}`)
}

async function listAll({ json }: Json): Promise<void> {
  const systems = await withGateway(({ db }) => listSystems(db))
  if (json) return console.log(visibleJson(systems.map(toJson)))
  if (systems.length === 0)
    console.log(
      `No systems. Add one: ${aexStep('gateway', 'system', 'add')} NAME --agent AGENT_ID --may read,draft,send,inbox`,
    )
  for (const system of systems) {
    const used = system.lastUsedAt === null ? 'never used' : `last used ${system.lastUsedAt}`
    const state = system.revokedAt === null ? used : `revoked ${system.revokedAt}`
    console.log(visible(`${system.name}  ${system.keyStart}…  ${system.systemId}`))
    console.log(visible(`  may ${system.verbs.join(', ')} for ${system.agents.join(', ')}; ${state}`))
  }
}

async function revokeOne(systemId: string, { json }: Json): Promise<void> {
  const isRevoked = await withGateway((gateway) =>
    recorded(
      gateway,
      (tx) => revokeSystem(tx, systemId),
      (isGone) => (isGone ? { action: 'system.revoke', target: systemId } : undefined),
    ),
  )
  if (!isRevoked)
    throw new CommandFailure(`There is no ${systemId}. List systems: ${aexStep('gateway', 'system', 'list')}`)
  if (json) return console.log(visibleJson({ system_id: systemId, revoked: true }))
  console.log(`The key of ${systemId} is revoked.`)
}

const toJson = (system: CompanySystem) => ({
  system_id: system.systemId,
  name: system.name,
  key_start: system.keyStart,
  agents: system.agents,
  verbs: system.verbs,
  created_at: system.createdAt,
  last_used_at: system.lastUsedAt,
  revoked_at: system.revokedAt,
})
