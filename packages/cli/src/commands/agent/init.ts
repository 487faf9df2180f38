import { agentId, organizationId, validatorOf } from '@agent-exchange/protocol'
import { Command } from 'commander'
import { clientKeyFile, makeAgentFolder } from '../../agent/agent-folder.ts'
import { folderOption } from '../../agent/agent-options.ts'
import { CommandFailure } from '../../failure.ts'

const EXAMPLES = `
Examples:
  $ aex agent init --org org_acme --agent agent_planner
  $ aex agent init --org org_acme --agent agent_planner --dir ./planner

Makes three key pairs: one for the client, one to sign, one to encrypt. The private parts stay in the folder.`

interface InitOptions {
  readonly org: string
  readonly agent: string
  readonly dir: string
}

export function agentInitCommand(): Command {
  return new Command('init')
    .description('Make the keys of a new agent, in a folder of its own')
    .requiredOption('--org <org_id>', 'organization of the agent')
    .requiredOption('--agent <agent_id>', 'id of the agent')
    .addOption(folderOption())
    .addHelpText('after', EXAMPLES)
    .action(init)
}

async function init({ org, agent, dir }: InitOptions): Promise<void> {
  if (!validatorOf(organizationId).accepts(org))
    throw new CommandFailure('An organization id starts with "org_", such as org_acme.')
  if (!validatorOf(agentId).accepts(agent))
    throw new CommandFailure('An agent id starts with "agent_", such as agent_planner.')
  const { keys } = await makeAgentFolder(dir, { organization_id: org, agent_id: agent })
  console.log(`Made ${agent} in ${dir}`)
  for (const [role, key] of Object.entries(keys)) console.log(`  ${role.padEnd(10)} ${key.key_id}`)
  console.log('\nNext, the operator of the exchange lets it in:')
  console.log(`  npx aex client create --org ${org} --agent ${agent} --jwk ${clientKeyFile(dir)}`)
  console.log('Then, with the client id that this prints:')
  console.log(`  npx aex agent register --client CLIENT_ID${dir === './aex-agent' ? '' : ` --dir ${dir}`}`)
}
