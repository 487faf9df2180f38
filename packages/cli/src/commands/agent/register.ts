import { randomUUID } from 'node:crypto'
import {
  HEADER,
  operations,
  PROTOCOL_VERSION,
  type AgentRegistration,
  type ProblemDetails,
} from '@agent-exchange/protocol'
import { Command } from 'commander'
import { accessToken } from '../../agent/access-token.ts'
import { readAgentFolder, type AgentFolder } from '../../agent/agent-folder.ts'
import { clientOption, folderOption, urlOption, type AgentOptions } from '../../agent/agent-options.ts'
import { CommandFailure } from '../../failure.ts'

const EXAMPLES = `
Examples:
  $ aex agent register --client CLIENT_ID
  $ aex agent register --client CLIENT_ID --json`

export function agentRegisterCommand(): Command {
  return new Command('register')
    .description('Register the agent with its public keys')
    .addOption(clientOption())
    .addOption(urlOption())
    .addOption(folderOption())
    .option('--json', 'print the registered agent as one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(register)
}

async function register({ dir, url, client, json }: AgentOptions & { json?: boolean }): Promise<void> {
  const agent = readAgentFolder(dir)
  const { access_token } = await accessToken({ folder: dir, baseUrl: url, clientId: client })
  const response = await fetch(url + operations.registerAgent.path, {
    method: operations.registerAgent.method,
    headers: {
      authorization: `Bearer ${access_token}`,
      'content-type': 'application/json',
      [HEADER.correlationId]: randomUUID(),
      [HEADER.idempotencyKey]: randomUUID(),
    },
    body: JSON.stringify(registrationOf(agent)),
  })
  const body: unknown = await response.json()
  if (!response.ok) throw new CommandFailure(refusal(body as ProblemDetails))
  if (json) console.log(JSON.stringify(body, undefined, 2))
  else console.log(`${agent.agent_id} of ${agent.organization_id} is registered`)
}

function registrationOf({ organization_id, agent_id, keys }: AgentFolder): AgentRegistration {
  const key = (use: 'signing' | 'encryption') => ({
    key_id: keys[use].key_id,
    use,
    format: 'jwk' as const,
    public_key: keys[use].public_jwk,
    valid_from: keys[use].created_at,
  })
  return {
    organization_id,
    agent_id,
    implementation: 'aex',
    implementation_version: '0.1.0',
    protocol_versions: [PROTOCOL_VERSION],
    skill_versions: {},
    transport_modes: ['native'],
    keys: [key('signing'), key('encryption')],
  }
}

function refusal({ title, code, type, details }: ProblemDetails): string {
  return `The exchange refused (${code}): ${title}. ${JSON.stringify(details)}\nSee ${type}`
}
