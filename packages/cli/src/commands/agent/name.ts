import { openAgentFolder, readAddressBook, setOrganizationName } from '@agent-exchange/sdk/internal/node'
import type { Command } from 'commander'
import { explained } from '../../agent/agent-failure.ts'
import { folderCommandOf, type AgentOptions } from '../../agent/agent-options.ts'
import { ADDRESS_BOOK_COMMAND, withNames } from '../../address-book-command.ts'

export function agentNameCommand(): Command {
  const command = folderCommandOf(
    'name',
    ADDRESS_BOOK_COMMAND,
    'name',
    'name org_cars "Cars Ltd"',
    'name org_cars --remove',
  )
  return withNames(command, (organizationId, name) => {
    const options = command.opts<AgentOptions>()
    return explained(options, async () => {
      const { files } = await openAgentFolder(options.dir)
      return organizationId === undefined
        ? readAddressBook(files.settings)
        : setOrganizationName(files.settings, organizationId, name)
    })
  })
}
