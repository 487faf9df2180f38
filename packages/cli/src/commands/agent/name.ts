import { openAgentFolder, readAddressBook, setOrganizationName } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { CommandFailure } from '../../failure.ts'
import { visible, visibleJson } from '../../visible.ts'

interface NameOptions extends AgentOptions {
  readonly remove?: true
}

export function agentNameCommand(): Command {
  return folderCommandOf(
    'name',
    'List, set or remove your own names of organizations, for verdicts; nobody signs them',
    'name',
    'name org_cars "Cars Ltd"',
    'name org_cars --remove',
  )
    .argument('[organization_id]', 'the organization')
    .argument('[name]', 'what you call it')
    .option('--remove', 'forget its name')
    .action(changeNames)
}

async function changeNames(
  organizationId: string | undefined,
  name: string | undefined,
  options: NameOptions,
): Promise<void> {
  const isChange = name !== undefined || options.remove === true
  if (isChange !== (organizationId !== undefined) || (name !== undefined && options.remove))
    throw new CommandFailure('Give an organization and its name, an organization and --remove, or neither.')
  const names = await explained(options, async () => {
    const { files } = await openAgentFolder(options.dir)
    return organizationId === undefined
      ? readAddressBook(files.settings)
      : setOrganizationName(files.settings, organizationId, name)
  })
  if (options.json) return console.log(visibleJson(names))
  const lines = Object.entries(names).toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, own] of lines) console.log(`${visible(id)}  ${visible(own)}`)
  if (lines.length === 0) console.log('No organization has a name.')
}
