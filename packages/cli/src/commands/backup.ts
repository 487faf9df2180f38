import { resolve } from 'node:path'
import { withMasterKey, type Config } from '@agent-exchange/service/config'
import { backUp, hasDatabase } from '@agent-exchange/service/backup'
import { Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { aexStep, shellQuoted } from '../next-step.ts'
import { asFailure, configOf } from '../service-failure.ts'
import { backupVerifyCommand } from './backup-verify.ts'

const EXAMPLES = `
The backup has the state of the moment at which it ends, whether the service runs or not. It is a folder: copy it
elsewhere with any tool.

Without --with-keys it holds the database alone. The platform's private keys in it are encrypted, and only the
master key opens them: keep AEX_DATA_DIR/master-key (or AEX_MASTER_KEY) in another safe place, or nobody can use
the backup. With --with-keys it contains the master key and the operator token: protect it as you protect them.

Examples:
  $ aex backup backups/monday
  $ aex backup --with-keys /mnt/vault/monday
  $ aex backup verify /mnt/vault/monday`

export function backupCommand(): Command {
  return new Command('backup')
    .description('Back up the embedded database into a new folder, while the service runs')
    .argument('<folder>', 'a new or an empty folder')
    .option('--with-keys', 'include the master key and the operator token')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .addCommand(backupVerifyCommand())
    .action(async (folder: string, options: { withKeys?: boolean; json?: boolean }) => {
      const config = embeddedConfig()
      const manifest = await run(config, resolve(folder), options.withKeys ?? false)
      const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0)
      const { made_at, master_key_fingerprint, with_keys } = manifest
      const report = { folder: resolve(folder), made_at, files: manifest.files.length, bytes, with_keys }
      if (options.json) console.log(JSON.stringify({ ...report, master_key_fingerprint }, undefined, 2))
      else print(report, master_key_fingerprint, config)
    })
}

/** Settings of an exchange with an embedded database. */
export function embeddedConfig(): Config {
  const config = configOf(process.env)
  if (config.databaseUrl === undefined) return config
  throw new CommandFailure(
    'DATABASE_URL is set, so the data is on that server: back it up and restore it with its own tools ' +
      '(pg_dump, pg_basebackup), and keep AEX_MASTER_KEY with the same care.',
  )
}

const log = (line: string) => console.error(line)

async function run(config: Config, to: string, withKeys: boolean) {
  const { dataDirectory } = config
  try {
    if (!hasDatabase(dataDirectory)) throw new CommandFailure(`There is no database in ${dataDirectory}.`)
    const now = new Date().toISOString()
    const { masterKey, previousMasterKey } = withMasterKey(config)
    const masterKeys = { current: masterKey, previous: previousMasterKey }
    return await backUp({ dataDirectory, to, masterKeys, withKeys, now, log })
  } catch (error) {
    throw error instanceof CommandFailure ? error : asFailure(error, config)
  }
}

function print(
  report: { folder: string; files: number; bytes: number; with_keys: boolean },
  key: string,
  { dataDirectory }: Config,
): void {
  const size = (report.bytes / 1_048_576).toFixed(1)
  console.log(`Backed up ${report.files} files, ${size} MB, into ${report.folder}`)
  console.log(
    report.with_keys
      ? 'It contains the master key and the operator token: protect it as you protect them.'
      : `Not in it: the master key (fingerprint ${key}). Without that key the backup cannot be used.`,
  )
  console.log(`Verify it: ${embeddedStep(dataDirectory, 'backup', 'verify', report.folder)}`)
  console.log(
    `Restore it, with the service stopped: ${embeddedStep(dataDirectory, 'restore', '--force', report.folder)}`,
  )
}

/** A command to paste that uses the same data folder. */
export function embeddedStep(dataDirectory: string, ...words: readonly string[]): string {
  const setting = dataDirectory === resolve('data') ? '' : `AEX_DATA_DIR=${shellQuoted(dataDirectory)} `
  return setting + aexStep(...words)
}
