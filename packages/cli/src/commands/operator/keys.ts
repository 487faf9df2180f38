import { type Command, Option } from 'commander'
import { change, pathOf, read } from './operator-api.ts'
import { group, operatorCommand, optionalReasonOption, show, type OutputOptions } from './operator-command.ts'
import { table } from './table.ts'

const COLUMNS = [
  'key_id',
  'status',
  'valid_from',
  'valid_until',
  'endpoints',
  'revoked_at',
  'standby',
  'held_in',
]

interface PurposeOption {
  readonly purpose: string
}

export function keysCommand(): Command {
  return group('keys', 'Keys of the exchange: they sign webhooks, tokens and statements', [
    operatorCommand(
      'list',
      'Show the keys, including ended ones, the number of endpoints of each, and where the private key is',
      'keys list --purpose token',
    )
      .addOption(purposeOption())
      .action(async ({ json, purpose }: OutputOptions & PurposeOption) => {
        const directory = await read('/keys', { purpose })
        const keys = Array.isArray(directory['keys']) ? (directory['keys'] as object[]) : []
        if (json) console.log(JSON.stringify(directory, undefined, 2))
        else console.log(table(keys, COLUMNS))
      }),
    operatorCommand(
      'rotate',
      'Publish the next key now; it signs after caches have expired',
      'keys rotate --reason yearly',
    )
      .addOption(purposeOption())
      .addOption(optionalReasonOption())
      .action(async ({ reason, purpose, ...output }: OutputOptions & PurposeOption & { reason?: string }) => {
        show(await change('/keys/rotate', { reason, purpose }), output)
      }),
    operatorCommand(
      'revoke',
      'Emergency: stop using a key now. Endpoints switch to the standby webhook key; tokens of a token key end',
      'keys revoke key_4f… --reason "seen in a log"',
    )
      .argument('<key_id>', 'id of the key')
      .requiredOption('--reason <text>', 'why, for the operator log')
      .action(async (id: string, { reason, ...output }: OutputOptions & { reason: string }) => {
        show(await change(`${pathOf('keys', id)}/revoke`, { reason }), output)
      }),
  ])
}

function purposeOption(): Option {
  return new Option('--purpose <purpose>', 'what the keys sign')
    .choices(['webhook', 'token', 'statement', 'log'])
    .default('webhook')
}
