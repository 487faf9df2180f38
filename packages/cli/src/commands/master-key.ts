import { setTimeout as sleep } from 'node:timers/promises'
import { fingerprint, masterKeyFile, readMasterKeyFile, SettingError } from '@agent-exchange/service/config'
import type { Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { newMasterKey, writeMasterKeyFile } from '../master-key-file.ts'
import { aexStep } from '../next-step.ts'
import { configOf } from '../service-failure.ts'
import { change, read, type Answer } from './operator/operator-api.ts'
import {
  group,
  operatorCommand,
  optionalReasonOption,
  show,
  type OutputOptions,
} from './operator/operator-command.ts'
import { table } from './operator/table.ts'

/** A process reads its key file every 10 s, and then reports within 10 s. */
const WAIT_MS = 60_000
const POLL_MS = 1_000

/** Answer of the operator API. */
interface Status {
  readonly master_key_id: string | null
  readonly configured_master_key_id: string
  readonly processes: readonly { readonly process_id: string; readonly has_configured_key: boolean }[]
}

interface RotateOptions extends OutputOptions {
  readonly generate?: boolean
  readonly reason?: string
}

export function masterKeyCommand(): Command {
  return group('master-key', 'The key that encrypts the private keys of the exchange', [
    operatorCommand(
      'status',
      'Show by fingerprint which master key the database needs, and which ones the processes have',
      'master-key status --json',
    ).action(async ({ json }: OutputOptions) => {
      const status = await read('/master-key')
      if (json) return show(status, { json })
      const { processes, ...others } = status
      show(others, {})
      console.log(
        table(processes as object[], ['process_id', 'role', 'has_configured_key', 'master_key_ids']),
      )
    }),
    operatorCommand(
      'rotate',
      'Encrypt the private keys under the new master key, while the exchange runs',
      'master-key rotate --generate --reason yearly',
      'master-key rotate --reason yearly',
    )
      .option(
        '--generate',
        'make a new key in the key file of this machine, and remove the former key from it',
      )
      .addOption(optionalReasonOption())
      .addHelpText('after', STEPS)
      .action(async ({ generate, reason, ...output }: RotateOptions) => {
        show(generate ? await rotateKeyFile(reason) : await change('/master-key/rotate', { reason }), output)
      }),
  ])
}

const STEPS = `
Use --generate if all processes of the exchange read one key file: AEX_MASTER_KEY_FILE, or AEX_DATA_DIR/master-key.
After an interruption, run the command again: it continues.

Otherwise:
  1. Give every process the new key beside the former one: AEX_MASTER_KEY and AEX_MASTER_KEY_PREVIOUS, or the two
     lines of AEX_MASTER_KEY_FILE. Variables need a restart of each process, one after another; files do not.
  2. Run aex master-key rotate. It refuses while a process lacks the new key.
  3. Remove the former key. Backups from before the rotation still need it.`

async function rotateKeyFile(reason: string | undefined): Promise<Answer> {
  const file = keyFile()
  const { master_key_id: needed } = await readStatus()
  const { current, previous } = keysIn(file)
  if (previous && fingerprint(current) === needed) {
    // An earlier rotation was interrupted before it removed the former key.
    writeMasterKeyFile(file, [current])
    return { master_key_id: needed, file }
  }
  const next = withNewKey(file, needed)
  await waitForProcesses(next)
  const answer = await change('/master-key/rotate', { reason })
  writeMasterKeyFile(file, [keysIn(file).current])
  return { ...answer, file }
}

function keyFile(): string {
  const config = configOf(process.env)
  if (config.masterKeyFile !== undefined) return config.masterKeyFile
  if (config.masterKey === undefined) return masterKeyFile(config.dataDirectory)
  throw new CommandFailure(
    `The master key is set by AEX_MASTER_KEY, so no file can be changed. Follow the steps of: ${aexStep('master-key', 'rotate', '--help')}`,
  )
}

/** Puts a new key before the one that the database needs, unless an interrupted rotation has done so. */
function withNewKey(file: string, needed: string | null): string {
  const { current, previous } = keysIn(file)
  const [first, second] = [fingerprint(current), previous && fingerprint(previous)]
  if (first !== needed && second === needed) return first
  if (first !== needed)
    throw new CommandFailure(
      `${file} lacks the key with fingerprint ${needed}, which the database needs. Is it the file of this exchange?`,
    )
  const next = newMasterKey()
  writeMasterKeyFile(file, [next, current])
  return fingerprint(next)
}

function keysIn(file: string) {
  try {
    return readMasterKeyFile(file)
  } catch (error) {
    if (error instanceof SettingError) throw new CommandFailure(error.message)
    throw error
  }
}

async function waitForProcesses(next: string): Promise<void> {
  console.error('Waiting until every process has read the new key')
  for (let waited = 0; waited < WAIT_MS; waited += POLL_MS) {
    const { configured_master_key_id, processes } = await readStatus()
    const knowIt = processes.every(({ has_configured_key }) => has_configured_key)
    if (configured_master_key_id === next && knowIt) return
    await sleep(POLL_MS)
  }
  throw new CommandFailure(
    `Some processes have not read the new key. See which: ${aexStep('master-key', 'status')}\n` +
      'Both keys are in the file, so nothing is lost: run the command again.',
  )
}

async function readStatus(): Promise<Status> {
  return (await read('/master-key')) as unknown as Status
}
