import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { CommandFailure } from '../../failure.ts'
import { secretFromFile } from '../../secret-file.ts'
import { logCompareCommand } from '../log-compare.ts'
import { logPolicyCommand } from '../log-policy.ts'
import { change, read, type Answer } from './operator-api.ts'
import { group, under, operatorCommand, show, type OutputOptions } from './operator-command.ts'

interface RecoverOptions extends OutputOptions {
  readonly mirror?: string
  readonly mirrorTokenFile?: string
  readonly newOrigin?: string
  readonly checkpoint?: string
  readonly reason: string
}

export function transparencyLogCommand(): Command {
  return group(
    'log',
    'The transparency log: its state and recovery, policies, and the views of two parties',
    [
      ...under(
        'For operators of the exchange:',
        operatorCommand(
          'status',
          'Show size, delay and witnesses of the log, and why it does not sign',
          'log status --json',
        ).action(async (output: OutputOptions) => {
          showStatus(await read('/transparency-log'), output)
        }),
        operatorCommand(
          'recover',
          'Continue after a lost tail from a copy of the log, or start a new log under another name',
          'log recover --mirror https://mirror.example/log --reason "restored from backup"',
          'log recover --mirror ./copy --reason "failover lost the tail"',
          'log recover --new-origin exchange.example/log-2 --reason "no copy of the tail exists"',
        )
          .option(
            '--mirror <url|folder>',
            'a complete copy of the log (C2SP tlog-tiles); a folder of the server',
          )
          .option('--mirror-token-file <file>', 'a file with the access token of the mirror')
          .option('--new-origin <name>', 'start a new log under this name, with a new key')
          .option(
            '--checkpoint <file>',
            'with --new-origin: the last checkpoint of the old log that anybody has',
          )
          .requiredOption('--reason <text>', 'why, for the operator log')
          .action(async (options: RecoverOptions) => show(await recover(options), options)),
      ),
      ...under('For companies and auditors:', logCompareCommand(), logPolicyCommand()),
    ],
  )
}

function recover(options: RecoverOptions): ReturnType<typeof change> {
  const { mirror, mirrorTokenFile, newOrigin, checkpoint, reason } = options
  if ((mirror === undefined) === (newOrigin === undefined))
    throw new CommandFailure('Give either --mirror or --new-origin.')
  if (newOrigin !== undefined)
    return change('/transparency-log/new-origin', {
      new_origin: newOrigin,
      reason,
      ...(checkpoint !== undefined && { checkpoint: readCheckpoint(checkpoint) }),
    })
  const place = mirror ?? ''
  return change('/transparency-log/recover', {
    mirror_url: /^https?:\/\//u.test(place) ? place : pathToFileURL(resolve(place)).href,
    reason,
    ...(mirrorTokenFile !== undefined && {
      mirror_token: secretFromFile('mirror token', mirrorTokenFile).trim(),
    }),
  })
}

function readCheckpoint(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new CommandFailure(`The checkpoint file ${file} cannot be read.`)
  }
}

const NO_WITNESSES = 'none: nobody outside confirms this log'

function showStatus(status: Answer, output: OutputOptions): void {
  const { witnesses } = status
  const hasNone = Array.isArray(witnesses) && witnesses.length === 0
  show(hasNone && !output.json ? { ...status, witnesses: NO_WITNESSES } : status, output)
}
