import { createAgentFolder } from '@agent-exchange/sdk/node'
import { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderOption, passphraseOption } from '../../agent/agent-options.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'

const EXAMPLES = `
Examples:
  $ aex agent init --org org_acme --agent agent_planner
  $ aex agent init --org org_acme --agent agent_planner --dir ./planner
  $ AEX_AGENT_PASSPHRASE=… aex agent init --org org_acme --agent agent_planner

Makes three key pairs: one for the client, one to sign, one to encrypt. The private parts stay in the folder.`

interface InitOptions {
  readonly org: string
  readonly agent: string
  readonly dir: string
  readonly passphraseFile?: string
}

export function agentInitCommand(): Command {
  return new Command('init')
    .description('Make the keys of a new agent, in a folder of its own')
    .requiredOption('--org <org_id>', 'organization of the agent')
    .requiredOption('--agent <agent_id>', 'id of the agent')
    .addOption(folderOption())
    .addOption(passphraseOption())
    .addHelpText('after', EXAMPLES)
    .action(init)
}

async function init({ org, agent, dir, passphraseFile }: InitOptions): Promise<void> {
  const passphrase = passphraseFrom(passphraseFile)
  const { made, files } = await explained(() =>
    createAgentFolder(dir, {
      identity: { organizationId: org, agentId: agent },
      ...(passphrase !== undefined && { passphrase }),
    }),
  )
  console.log(`Made ${agent} in ${dir}`)
  for (const [role, { keyId }] of Object.entries(made)) console.log(`  ${role.padEnd(10)} ${keyId}`)
  const folder = dir === './aex-agent' ? '' : ` --dir ${dir}`
  console.log('\nNext, the operator of the exchange lets it in:')
  console.log(`  npx aex client create --org ${org} --agent ${agent} --jwk ${files.clientPublicKey}`)
  console.log('Then, with the client id that this prints:')
  console.log(`  npx aex agent register --client CLIENT_ID${folder}`)
}
