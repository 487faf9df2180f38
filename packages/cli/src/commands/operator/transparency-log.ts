import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { change, read } from './operator-api.ts'
import { group, operatorCommand, show, type OutputOptions } from './operator-command.ts'

interface RecoverOptions extends OutputOptions {
  readonly mirror: string
  readonly reason: string
}

export function transparencyLogCommand(): Command {
  return group('log', 'The transparency log: its state, and recovery after a restore', [
    operatorCommand(
      'status',
      'Show size, delay and witnesses of the log, and why it does not sign',
      'log status --json',
    ).action(async (output: OutputOptions) => {
      show(await read('/transparency-log'), output)
    }),
    operatorCommand(
      'recover',
      'Refill the tail of the log that a restored database lost, from a copy of the log',
      'log recover --mirror https://mirror.example/log --reason "restored from backup"',
      'log recover --mirror ./copy --reason "failover lost the tail"',
    )
      .requiredOption(
        '--mirror <url|folder>',
        'a complete copy of the log (C2SP tlog-tiles); a folder of the server',
      )
      .requiredOption('--reason <text>', 'why, for the operator log')
      .action(async ({ mirror, reason, ...output }: RecoverOptions) => {
        const mirror_url = /^https?:\/\//u.test(mirror) ? mirror : pathToFileURL(resolve(mirror)).href
        show(await change('/transparency-log/recover', { mirror_url, reason }), output)
      }),
  ])
}
