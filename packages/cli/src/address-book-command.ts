import type { AddressBook } from '@agent-exchange/log'
import type { Command } from 'commander'
import { CommandFailure } from './failure.ts'
import { visible, visibleJson } from './visible.ts'

export const ADDRESS_BOOK_COMMAND =
  'List, set or remove your own names of organizations, for stories and verdicts; nobody signs them'

type NameChange = (organizationId: string | undefined, name: string | undefined) => Promise<AddressBook>

interface NameOptions {
  readonly remove?: true
  readonly json?: boolean
}

/** Adds what `name` takes and prints. Without an organization `change` lists; without a name it removes. */
export function withNames(command: Command, change: NameChange): Command {
  return command
    .argument('[organization_id]', 'the organization')
    .argument('[name]', 'what you call it')
    .option('--remove', 'forget its name')
    .action(async (organizationId: string | undefined, name: string | undefined, options: NameOptions) => {
      const isChange = name !== undefined || options.remove === true
      if (isChange !== (organizationId !== undefined) || (name !== undefined && options.remove))
        throw new CommandFailure(
          'Give an organization and its name, an organization and --remove, or neither.',
        )
      printNames(await change(organizationId, name), options.json)
    })
}

function printNames(names: AddressBook, json = false): void {
  if (json) return console.log(visibleJson(names))
  const lines = Object.entries(names).toSorted(([a], [b]) => (a < b ? -1 : 1))
  for (const [id, own] of lines) console.log(`${visible(id)}  ${visible(own)}`)
  if (lines.length === 0) console.log('No organization has a name.')
}
