import { agentFingerprint } from '@agent-exchange/sdk/internal'
import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, passphraseOption, type AgentOptions } from '../../agent/agent-options.ts'
import { passphraseFrom } from '../../agent/passphrase.ts'
import { visibleJson } from '../../visible.ts'

export function agentFingerprintCommand(): Command {
  return folderCommandOf(
    'fingerprint',
    'Print the fingerprint of this agent, to be compared over another channel',
    'fingerprint',
    'fingerprint --dir ./planner --json',
  )
    .addOption(passphraseOption())
    .addHelpText('after', '\nThe other side then runs: aex agent trust AGENT_ID FINGERPRINT')
    .action(async (options: AgentOptions) => {
      const { dir, passphraseFile, json } = options
      const passphrase = passphraseFrom(passphraseFile)
      await explained(options, async () => {
        const { identity, keys } = await openAgentFolder(dir, passphrase === undefined ? {} : { passphrase })
        const fingerprint = await agentFingerprint(keys)
        console.log(json ? visibleJson({ agent_id: identity.agentId, fingerprint }) : fingerprint)
      })
    })
}
