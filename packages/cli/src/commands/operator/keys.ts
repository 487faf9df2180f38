import type { Command } from 'commander'
import { change, pathOf, read } from './operator-api.ts'
import { group, operatorCommand, optionalReasonOption, show, type OutputOptions } from './operator-command.ts'
import { table } from './table.ts'

const COLUMNS = ['key_id', 'status', 'valid_from', 'valid_until', 'endpoints', 'revoked_at']

export function keysCommand(): Command {
  return group('keys', 'Keys that sign webhooks', [
    operatorCommand(
      'list',
      'Show the webhook keys, also those that have ended, and how many endpoints each signs for',
      'keys list',
    ).action(async ({ json }: OutputOptions) => {
      const directory = await read('/keys')
      const keys = Array.isArray(directory['keys']) ? (directory['keys'] as object[]) : []
      if (json) console.log(JSON.stringify(directory, undefined, 2))
      else console.log(table(keys, COLUMNS))
    }),
    operatorCommand(
      'rotate',
      'Publish the next webhook key at once; it signs once receivers could see it',
      'keys rotate --reason yearly',
    )
      .addOption(optionalReasonOption())
      .action(async ({ reason, ...output }: OutputOptions & { reason?: string }) => {
        show(await change('/keys/rotate', { reason }), output)
      }),
    operatorCommand(
      'revoke',
      'In an emergency: stop signing with a key at once; endpoints move to another one, made where there is none',
      'keys revoke key_4f… --reason "seen in a log"',
    )
      .argument('<key_id>', 'id of the key')
      .requiredOption('--reason <text>', 'why, for the operator log')
      .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('keys', id)}/revoke`, { reason }), output)
      }),
  ])
}
