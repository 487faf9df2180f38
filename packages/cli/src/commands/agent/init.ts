import { createAgentFolder } from '@agent-exchange/sdk/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, passphraseOption, urlOption } from '../../agent/agent-options.ts'
import { LOCAL_EXCHANGE } from '../../agent/client-variables.ts'
import { nextStep } from '../../agent/next-step.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
import { visibleJson } from '../../visible.ts'
import { aexCommand, shellQuoted } from '../../next-step.ts'

interface InitOptions {
  readonly org: string
  readonly agent: string
  readonly dir: string
  readonly url?: string
  readonly passphraseFile?: string
  readonly json?: boolean
}

export function agentInitCommand(): Command {
  return folderCommandOf(
    'init',
    'Create a new agent and its keys in a folder',
    'init --org org_acme --agent agent_planner',
    'init --org org_acme --agent agent_planner --dir ./planner',
    'init --org org_acme --agent agent_planner --passphrase-file ./passphrase',
    'init --org org_acme --agent agent_planner --url https://exchange.example',
  )
    .requiredOption('--org <org_id>', 'organization of the agent')
    .requiredOption('--agent <agent_id>', 'id of the agent')
    .addOption(urlOption(`address of the exchange, kept in the folder (default: ${LOCAL_EXCHANGE})`))
    .addOption(passphraseOption())
    .addHelpText(
      'after',
      '\nCreates three key pairs: client, signing and encryption. The private keys stay in the folder.',
    )
    .action(init)
}

async function init({ org, agent, dir, url, passphraseFile, json }: InitOptions): Promise<void> {
  const passphrase = passphraseFrom(passphraseFile)
  const place = { dir, ...(passphraseFile !== undefined && { passphraseFile }) }
  const { made, files } = await explained(place, () =>
    createAgentFolder(dir, {
      identity: { organizationId: org, agentId: agent },
      ...(url !== undefined && { baseUrl: url }),
      ...(passphrase !== undefined && { passphrase }),
    }),
  )
  const keyIds = Object.entries(made).map(([role, { keyId }]): [string, string] => [role, keyId])
  if (json) {
    const shown = {
      organization_id: org,
      agent_id: agent,
      folder: dir,
      client_public_key_file: files.clientPublicKey,
      key_ids: Object.fromEntries(keyIds),
    }
    return console.log(visibleJson(shown))
  }
  console.log(`Made ${agent} in ${dir}`)
  for (const [role, keyId] of keyIds) console.log(`  ${role.padEnd(10)} ${keyId}`)
  console.log('\nNext, the operator of the exchange creates a client for it:')
  console.log(
    `  ${aexCommand()} client create --org ${org} --agent ${agent} --jwk ${shellQuoted(files.clientPublicKey)}`,
  )
  console.log('Then, with the client id that this prints:')
  console.log(`  ${nextStep(place, 'register', '--client', 'CLIENT_ID')}`)
}
