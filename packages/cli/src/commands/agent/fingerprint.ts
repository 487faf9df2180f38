import { agentFingerprint } from '@agent-exchange/sdk'
import { openAgentFolder } from '@agent-exchange/sdk/node'
import { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import {
  agentCommandOf,
  folderOption,
  passphraseOption,
  type AgentOptions,
} from '../../agent/agent-options.ts'
import { withAgent } from '../../agent/open-agent.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
import { table } from '../operator/table.ts'

export function agentFingerprintCommand(): Command {
  return new Command('fingerprint')
    .description('Print the fingerprint of this agent, to be compared over another channel')
    .addOption(folderOption())
    .addOption(passphraseOption())
    .addHelpText(
      'after',
      '\nExamples:\n  $ aex agent fingerprint\n\nThe other side then runs: aex agent trust AGENT_ID FINGERPRINT',
    )
    .action(async ({ dir, passphraseFile }: AgentOptions) => {
      const passphrase = passphraseFrom(passphraseFile)
      const store = passphrase === undefined ? {} : { passphrase }
      await explained(async () => {
        const { keys } = await openAgentFolder(dir, store)
        console.log(await agentFingerprint(keys))
      })
    })
}

export function agentTrustCommand(): Command {
  return agentCommandOf(
    'trust',
    'Expect this fingerprint of another agent: a directory that shows anything else is refused',
    'trust agent_carmaker_planner NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs',
  )
    .argument('<agent_id>', 'the other agent')
    .argument('<fingerprint>', 'what its owner read out')
    .action(async (agentId: string, fingerprint: string, options: AgentOptions) => {
      const pins = await withAgent(options, (agent) =>
        agent.trust(agentId, fingerprint.replaceAll(/\s/gu, '')),
      )
      if (options.json) console.log(JSON.stringify(pins, undefined, 2))
      else console.log(`${agentId} is trusted by its fingerprint`)
    })
}

export function agentPeersCommand(): Command {
  return new Command('peers')
    .description('List the keys of other agents that this one has pinned, and how each came to be trusted')
    .addOption(folderOption())
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExamples:\n  $ aex agent peers')
    .action(async ({ dir, json }: AgentOptions) => {
      const { pins } = await explained(() => openAgentFolder(dir))
      const peers = await pins.list()
      if (json) return console.log(JSON.stringify(peers, undefined, 2))
      const rows = peers.flatMap(({ agentId, keys }) =>
        keys.map(({ use, fingerprint, by, pinnedAt }) => ({
          agent: agentId,
          use,
          fingerprint,
          trusted_by: by,
          pinned_at: pinnedAt,
        })),
      )
      console.log(table(rows, ['agent', 'use', 'fingerprint', 'trusted_by', 'pinned_at']))
    })
}
