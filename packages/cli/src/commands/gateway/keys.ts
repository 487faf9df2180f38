import {
  listAgentKeys,
  makeNextClientKey,
  openHostedAgent,
  useNextClientKey,
  type HostedAgent,
} from '@agent-exchange/gateway'
import { Command, Option } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { aexStep } from '../../next-step.ts'
import { visible, visibleJson } from '../../visible.ts'
import { revocationOf, withRevocationOptions, type RevocationOptions } from '../agent/key-revocation.ts'
import { agentOption, gatewayLeaf, requireAgent, type Json } from './gateway-command.ts'
import { withGateway } from './opened-gateway.ts'

interface OfAgent extends Json {
  readonly agent: string
}

export function gatewayKeyCommand(): Command {
  return new Command('key')
    .description('Keys of the agents of the gateway')
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand())
}

function listCommand(): Command {
  return gatewayLeaf(
    'list',
    'Keys of an agent: role, stage, where each is held, and when it ends at the exchange',
    'key list --agent agent_planner',
  )
    .addOption(agentOption())
    .action(listKeys)
}

function rotateCommand(): Command {
  return gatewayLeaf(
    'rotate',
    'Replace a key of an agent; the operator of the exchange registers a new client key',
    'key rotate --agent agent_planner --role encryption',
    'key rotate --agent agent_planner --role client --json > next.json',
    'key rotate --agent agent_planner --role client --registered',
  )
    .addOption(agentOption())
    .addOption(
      new Option('--role <role>', 'which key')
        .choices(['signing', 'encryption', 'client'])
        .makeOptionMandatory(),
    )
    .option('--registered', 'the operator has registered the next client key: use it')
    .action(rotateKey)
}

function revokeCommand(): Command {
  const command = gatewayLeaf(
    'revoke',
    'Revoke a key permanently; packages accepted before --invalid-from stay verifiable',
    'key revoke KEY_ID --agent agent_planner --invalid-from 2026-03-01T08:00:00Z --reason-code compromise --evidence case_7',
  )
    .argument('<key_id>', 'signing or encryption key of the agent')
    .addOption(agentOption())
  return withRevocationOptions(command).action(revokeKey)
}

async function listKeys({ agent, json }: OfAgent): Promise<void> {
  const { keys, isAsked } = await withGateway(async (gateway) =>
    listAgentKeys(gateway, await requireAgent(gateway, agent)),
  )
  const rows = keys.map(({ keyId, role, stage, heldIn, createdAt, status, endsAt }) => ({
    key_id: keyId,
    role,
    stage,
    held_in: heldIn,
    created_at: createdAt,
    ...(status !== undefined && { status }),
    ...(endsAt !== undefined && { ends_at: endsAt }),
  }))
  if (!isAsked) console.error('The exchange does not answer: status and end of the keys are missing.')
  if (json) return console.log(visibleJson(rows))
  for (const row of rows) {
    const place = `${row.role.padEnd(10)}  ${row.stage.padEnd(8)}  ${row.held_in}`
    const { status = 'status unknown', ends_at: end } = row
    const said = row.role === 'client' ? '' : `  ${status}${end === undefined ? '' : `, ends ${end}`}`
    console.log(visible(`${place}  ${row.created_at}${said}  ${row.key_id}`))
  }
}

interface Rotate extends OfAgent {
  readonly role: 'signing' | 'encryption' | 'client'
  readonly registered?: boolean
}

async function rotateKey({ agent, role, registered = false, json }: Rotate): Promise<void> {
  if (role === 'client') return registered ? useClientKey(agent, json) : makeClientKey(agent, json)
  if (registered) throw new CommandFailure('--registered is for --role client: other keys are used at once.')
  const { current, previous } = await withAgent(agent, (hosted) => hosted.agent.rotateKey(role))
  if (json) return console.log(visibleJson({ current: current.keyId, previous: previous.keyId }))
  console.log(`The ${role} key of ${agent} is ${current.keyId}. It replaces ${previous.keyId}.`)
  console.log(`  look  ${aexStep('gateway', 'key', 'list', '--agent', agent)}`)
}

async function makeClientKey(agentId: string, json: boolean | undefined): Promise<void> {
  const { clientId, key } = await withGateway(async (gateway) => {
    const agent = await requireAgent(gateway, agentId)
    return { clientId: agent.clientId, key: await makeNextClientKey(gateway, agent) }
  })
  if (json)
    return console.log(visibleJson({ client_id: clientId, next: key.keyId, public_jwk: key.publicJwk }))
  console.log(`The next client key of ${agentId} is ${key.keyId}. Send its public part to the operator:`)
  console.log(visibleJson(key.publicJwk))
  console.log(`  operator  aex client rotate ${clientId} --jwk public.jwk.json`)
  const use = aexStep('gateway', 'key', 'rotate', '--agent', agentId, '--role', 'client', '--registered')
  console.log(`  then      ${use}`)
}

async function useClientKey(agentId: string, json: boolean | undefined): Promise<void> {
  const key = await withGateway(async (gateway) =>
    useNextClientKey(gateway, await requireAgent(gateway, agentId)),
  )
  if (!key)
    throw new CommandFailure(
      `${agentId} has no next client key. Make one: ${aexStep('gateway', 'key', 'rotate', '--agent', agentId, '--role', 'client')}`,
    )
  if (json) return console.log(visibleJson({ current: key.keyId }))
  console.log(`The client key of ${agentId} is ${key.keyId}.`)
}

async function revokeKey(keyId: string, options: OfAgent & RevocationOptions): Promise<void> {
  const { agent, json } = options
  const key = await withAgent(agent, (hosted) => hosted.agent.revokeKey(keyId, revocationOf(options)))
  console.log(json ? visibleJson(key) : visible(`${keyId} is ${key.status}`))
}

function withAgent<T>(agentId: string, work: (hosted: HostedAgent) => Promise<T>): Promise<T> {
  return withGateway(async (gateway) =>
    work(await openHostedAgent(gateway, await requireAgent(gateway, agentId))),
  )
}
