import type { Command } from 'commander'
import { change, read } from './operator-api.ts'
import { group, operatorCommand, optionalReasonOption, show, type OutputOptions } from './operator-command.ts'
import { table } from './table.ts'

export function keysCommand(): Command {
  return group('keys', 'Keys that sign webhooks', [
    operatorCommand('list', 'Show the directory of webhook keys', 'keys list').action(
      async ({ json }: OutputOptions) => {
        const directory = await read('/keys')
        const keys = Array.isArray(directory['keys']) ? (directory['keys'] as object[]) : []
        if (json) console.log(JSON.stringify(directory, undefined, 2))
        else console.log(table(keys, ['key_id', 'status', 'valid_from', 'valid_until']))
      },
    ),
    operatorCommand(
      'rotate',
      'Publish the next webhook key at once; it signs once receivers could see it',
      'keys rotate --reason yearly',
    )
      .addOption(optionalReasonOption())
      .action(async ({ reason, ...output }: OutputOptions & { reason?: string }) => {
        show(await change('/keys/rotate', { reason }), output)
      }),
  ])
}
