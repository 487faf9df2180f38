import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fingerprint, masterKeyFile, withMasterKey, type Config } from '@agent-exchange/service/config'
import { KEY_FILES, restore, type Restored } from '@agent-exchange/service/backup'
import { Command } from 'commander'
import { asFailure } from '../service-failure.ts'
import { embeddedConfig, embeddedStep } from './backup.ts'

const EXAMPLES = `
Every file is checked before anything is replaced, and the database is started once to see that it recovers.
With --force a database that is there is set aside, not deleted. A running service has to be stopped first.

Examples:
  $ AEX_DATA_DIR=/srv/exchange aex restore backups/monday
  $ aex restore --force backups/monday`

export function restoreCommand(): Command {
  return new Command('restore')
    .description('Put a backup into AEX_DATA_DIR')
    .argument('<folder>', 'a folder that aex backup made')
    .option('--force', 'replace the database that is there; the old one is set aside')
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
  readonly json?: boolean
}

const log = (line: string) => console.error(line)

async function run(config: Config, from: string, { force = false }: RestoreCommandOptions) {
  const { dataDirectory } = config
  try {
    const restored = await restore({ from, dataDirectory, keyFiles: KEY_FILES, force, log })
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
