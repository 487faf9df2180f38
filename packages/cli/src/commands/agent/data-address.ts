import { openAgentFolder } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { requireConnector } from '../../agent/connector-settings.ts'
import { startDataAddress } from '../../agent/data-address.ts'
import { interruption } from '../../agent/interruption.ts'
import { folderStep } from '../../agent/next-step.ts'
import { CommandFailure } from '../../failure.ts'
import { visibleJson } from '../../visible.ts'

export function agentDataAddressCommand(): Command {
  return folderCommandOf(
    'data-address',
    "Serve the sealed bytes of sent packages to the agent's own data plane, for as long as it runs",
    'data-address',
    'data-address --dir ./planner',
  )
    .addHelpText(
      'after',
      '\nWhere it listens is set by: aex agent connector set. Keep it running while packages are on offer.',
    )
    .action(serve)
}

async function serve({ dir, json }: AgentOptions): Promise<void> {
  const folder = await explained({ dir }, () => openAgentFolder(dir))
  const { data_address: settings } = await requireConnector(folder, { dir })
  await using server = await startDataAddress(settings, folder.files.outgoing)
  if (!server)
    throw new CommandFailure(
      `Port ${settings.port} of ${settings.host} is in use. If the data address runs already, leave it; otherwise set another with: ${folderStep({ dir }, 'connector', 'set', '--help')}`,
    )
  const stopped = interruption()
  if (json) console.log(visibleJson({ url: server.url }))
  console.error(`Serving the data address at ${server.url}. Ctrl-C ends it.`)
  await stopped
}
