import type { Command } from 'commander'
import { read } from './operator-api.ts'
import { operatorCommand, type OutputOptions } from './operator-command.ts'
import { table } from './table.ts'

const COLUMNS = ['kind', 'organization_id', 'package_id', 'thread_id']

export function searchCommand(): Command {
  return operatorCommand(
    'search',
    'Find an object by any id: package, thread, receipt, event, delivery, correlation id, agent, …',
    'search pkg_4f…',
    'search evt_4f… --json',
  )
    .argument('<id>', 'the whole id')
    .action(async (id: string, { json }: OutputOptions) => {
      const answer = await read('/search', { id })
      if (json) return console.log(JSON.stringify(answer, undefined, 2))
      const items = answer['items'] as readonly object[]
      console.log(
        items.length > 0
          ? table(items, COLUMNS)
          : 'Nothing has this id. Ids are searched as a whole; correlation ids are those of submitted packages.',
      )
    })
}
