import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { verifyBackup, type VerifiedBackup } from '@agent-exchange/service/backup'
import {
  masterKeyFile,
  readMasterKeyFile,
  SettingError,
  type Config,
  type MasterKeys,
} from '@agent-exchange/service/config'
import { Command } from 'commander'
import { CommandFailure } from '../failure.ts'
import { asFailure, configOf } from '../service-failure.ts'

const EXIT_CODES = { restorable: 0, damaged: 1, incomplete: 3 } as const
const UNREADABLE = 2

const HELP = `
The backup is restored into a temporary folder, PostgreSQL is started there, and everything is read. The running
exchange is not touched. The copy needs as much space as the backup, in the folder of --work.

The master key is that of the backup (--with-keys), or that of the settings. The published checkpoint is the last one
that AEX_DATA_DIR remembers, or that of --checkpoint: the text that GET /log/checkpoint answers.

Exit codes:
  0  the backup can be restored, and everything was proved
  1  the backup is damaged
  2  the folder is not a complete backup, or the check could not run
  3  nothing is wrong, but something could not be proved

Examples:
  $ aex backup verify /mnt/vault/monday
  $ AEX_MASTER_KEY_FILE=key aex backup verify --checkpoint checkpoint.txt --json monday`

interface VerifyOptions {
  readonly work?: string
  readonly checkpoint?: string
  readonly json?: boolean
}

export function backupVerifyCommand(): Command {
  return new Command('verify')
    .description(
      'Prove that a backup can be restored: files, schema, rows, audit chains, keys, transparency log',
    )
    .argument('<folder>', 'a folder that aex backup made')
    .option('--work <folder>', 'folder for the temporary copy')
    .option('--checkpoint <file>', 'a published checkpoint of the transparency log')
    .option('--json', 'print one JSON document')
    .addHelpText('after', HELP)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : UNREADABLE))
    .action(async (folder: string, _own: VerifyOptions, command: Command) => {
      // `aex backup` has --json too, and takes it wherever it is.
      const options = command.optsWithGlobals<VerifyOptions>()
      try {
        const verified = await run(resolve(folder), options)
        print(verified, options)
        process.exitCode = EXIT_CODES[verified.verdict]
      } catch (error) {
        console.error((error instanceof CommandFailure ? error : asFailure(error)).message)
        process.exitCode = UNREADABLE
      }
    })
}

async function run(folder: string, { work, checkpoint }: VerifyOptions): Promise<VerifiedBackup> {
  const config = configOf(process.env)
  return verifyBackup({
    folder,
    workFolder: work && resolve(work),
    masterKeys: (restored) => masterKeysAt(restored, config),
    dataDirectory: config.dataDirectory,
    checkpoint: checkpoint === undefined ? undefined : readFileSync(checkpoint, 'utf8'),
    log: (line) => console.error(line),
  })
}

/** The keys of the backup, else those of the settings. Undefined: there are none here. */
function masterKeysAt(restored: string, config: Config): MasterKeys | undefined {
  const { masterKey, previousMasterKey, dataDirectory } = config
  const files = [masterKeyFile(restored), ...(masterKey ? [] : [masterKeyFile(dataDirectory)])]
  const file = files.find((each) => existsSync(each))
  try {
    if (file !== undefined) return readMasterKeyFile(file)
  } catch (error) {
    if (error instanceof SettingError) throw new CommandFailure(error.message)
    throw error
  }
  return masterKey && { current: masterKey, previous: previousMasterKey }
}

const MARKS = { proved: '✔', failed: '✖', not_proved: '?' } as const

function print(verified: VerifiedBackup, { json }: VerifyOptions): void {
  if (json) return console.log(JSON.stringify(verified, undefined, 2))
  for (const { name, result, detail } of verified.checks) console.log(`${MARKS[result]} ${name}: ${detail}`)
  for (const sentence of verified.never_proved) console.log(`- not checked: ${sentence}`)
  console.log(`The backup of ${verified.made_at} is ${verified.verdict}.`)
}
