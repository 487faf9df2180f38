import { Option, type Command } from 'commander'
import { aexStep } from '../../next-step.ts'
import { pathOf, read } from './operator-api.ts'
import { group, operatorCommand, type OutputOptions } from './operator-command.ts'
import { printTimeline } from './package.ts'
import { table } from './table.ts'

const COLUMNS = ['package_id', 'state', 'sender_org_id', 'accepted_at']

interface ThreadOptions extends OutputOptions {
  readonly after?: string
}

export function threadCommand(): Command {
  return group('thread', 'Threads of packages', [
    operatorCommand(
      'show',
      'Show the packages of a thread and all that happened to them, page by page',
      'thread show thread_4f…',
    )
      .argument('<thread_id>', 'id of the thread')
      .addOption(new Option('--after <cursor>', 'cursor of the next page, as the previous page prints it'))
      .action(async (id: string, { after, json }: ThreadOptions) => {
        const answer = await read(pathOf('threads', id), { after })
        if (json) return console.log(JSON.stringify(answer, undefined, 2))
        const { packages, next_cursor: next, has_more: hasMore, ...rest } = answer
        printTimeline(rest, {})
        console.log(`\nPackages\n${table(packages as readonly object[], COLUMNS)}`)
        if (hasMore === true)
          console.error(`There are more: ${aexStep('thread', 'show', id, '--after', String(next))}`)
      }),
  ])
}
