import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fingerprint, masterKeyFile, withMasterKey, type Config } from '@agent-exchange/service/config'
import { restore, type Restored } from '@agent-exchange/service/database'
import { Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { asFailure } from '../service-failure.ts'
import { embeddedConfig, embeddedStep } from './backup.ts'

const EXAMPLES = `
Every file is checked before anything is replaced, and the database is started once to see that it recovers.
With --force a database that is there is set aside, not deleted. A running service has to be stopped first.

Examples:
  $ AEX_DATA_DIR=/srv/exchange aex restore backups/monday
  $ aex restore --force backups/monday
  $ aex restore --force --archive /mnt/wal --until 2026-11-17T08:30:00Z backups/monday`

export function restoreCommand(): Command {
  return new Command('restore')
    .description('Put a backup into AEX_DATA_DIR')
    .argument('<folder>', 'a folder that aex backup made')
    .option('--force', 'replace the database that is there; the old one is set aside')
    .option('--archive <folder>', 'also replay the write-ahead log of this folder (AEX_WAL_ARCHIVE)')
    .option('--until <time>', 'stop the replay at this time, such as 2026-11-17T08:30:00Z')
    .option('--json', 'print one JSON document')
    .addHelpText('after', EXAMPLES)
    .action(async (folder: string, options: RestoreCommandOptions) => {
      const config = embeddedConfig()
      const { dataDirectory } = config
      const { key, ...restored } = await run(config, resolve(folder), options)
      const { location, migration, manifest } = restored
      const report = {
        data_folder: dataDirectory,
        location,
        migration,
        made_at: manifest.made_at,
        master_key: key,
      }
      if (options.json) console.log(JSON.stringify(report, undefined, 2))
      else print(report, dataDirectory, manifest.master_key_fingerprint)
    })
}

interface RestoreCommandOptions {
  readonly force?: boolean
  readonly archive?: string
  readonly until?: string
  readonly json?: boolean
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2})$/u

/** A time without a zone would depend on this machine, so it is refused. */
function targetOf(text: string | undefined): { readonly time: string } | 'end' {
  if (text === undefined) return 'end'
  if (TIME.test(text) && !Number.isNaN(Date.parse(text))) return { time: text }
  throw new CommandFailure('Give --until as a time with a zone, such as 2026-11-17T08:30:00Z.')
}

const log = (line: string) => console.error(line)

async function run(config: Config, from: string, { force = false, archive, until }: RestoreCommandOptions) {
  if (until !== undefined && archive === undefined) throw new CommandFailure('Give --archive with --until.')
  // Without a replay, a restored server that archives still has to begin a new timeline.
  const given = archive ?? config.walArchive
  const stop = archive === undefined ? ('backup' as const) : targetOf(until)
  try {
    const restored = await restore({
      from,
      dataDirectory: config.dataDirectory,
      force,
      archive: given === undefined ? undefined : { folder: resolve(given), until: stop },
      log,
    })
    return { ...restored, key: keyState(config, restored) }
  } catch (error) {
    throw asFailure(error, config)
  }
}

/** Whether the configured master key is the key of the backup. */
function keyState(config: Config, { manifest }: Restored): 'matches' | 'missing' | 'differs' {
  if (!config.masterKey && !existsSync(masterKeyFile(config.dataDirectory))) return 'missing'
  const { masterKey, previousMasterKey } = withMasterKey(config)
  const keys = previousMasterKey ? [masterKey, previousMasterKey] : [masterKey]
  return keys.map(fingerprint).includes(manifest.master_key_fingerprint) ? 'matches' : 'differs'
}

function print(report: Record<string, string | undefined>, dataFolder: string, key: string): void {
  console.log(`Restored the backup of ${report['made_at']} into ${dataFolder}: it starts.`)
  if (report['master_key'] === 'matches')
    return console.log(`Start the service with: ${embeddedStep(dataFolder, 'serve')}`)
  console.log(
    `The master key ${report['master_key'] === 'missing' ? 'is missing' : 'differs from that of the backup'}. ` +
      `Before you start the service, put the key with fingerprint ${key} into ${masterKeyFile(dataFolder)}, or set AEX_MASTER_KEY to it.`,
  )
}
