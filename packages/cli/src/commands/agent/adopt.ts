import { adoptAgentFolder } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { visible, visibleJson } from '../../visible.ts'

export function agentAdoptCommand(): Command {
  return folderCommandOf(
    'adopt',
    'Use a folder that was copied, restored or moved to another disk, in place of the original',
    'adopt --dir ./restored-planner',
  )
    .addHelpText(
      'after',
      '\nEnd every process that uses the original first: two folders of one agent handle every event twice.',
    )
    .action(async (options: AgentOptions) => {
      const adopted = await explained(options, () => adoptAgentFolder(options.dir))
      if (options.json) return console.log(visibleJson({ folder: options.dir, adopted }))
      console.log(
        adopted
          ? `${visible(options.dir)} is now the folder of this agent. Do not use the original any more.`
          : `${visible(options.dir)} is not a copy. Nothing was changed.`,
      )
    })
}
