import type { Logger } from 'pino'
import { fingerprint, knownKeys, type MasterKeys } from './master-key.ts'
import type { PeriodicTask } from './periodic.ts'
import { readMasterKeyFile, SettingError, type MasterKeySettings } from './settings/index.ts'

const EVERY_SECONDS = 10

interface MasterKeyReloadSettings {
  readonly config: Pick<MasterKeySettings, 'previousMasterKey' | 'masterKeyFile'> & {
    readonly masterKey: Uint8Array
  }
  /** Fingerprint of a key that the database needs and that is none of these. */
  readonly missing: (fingerprints: readonly string[]) => Promise<string | undefined>
  readonly log: Pick<Logger, 'info' | 'error'>
}

export interface MasterKeyReload {
  /** The keys that this process has now. */
  readonly keys: () => MasterKeys
  /** None where the keys came from variables. */
  readonly tasks: readonly PeriodicTask[]
}

/** Reads the key file again, so that a rotation needs no restart. Files that lack the needed key are refused. */
export function masterKeyReload({ config, missing, log }: MasterKeyReloadSettings): MasterKeyReload {
  const { masterKeyFile: file } = config
  let used: MasterKeys = { current: config.masterKey, previous: config.previousMasterKey }
  let refusal: string | undefined

  async function reload(path: string): Promise<void> {
    const next = readMasterKeyFile(path)
    const ids = knownKeys(next).map(fingerprint)
    if (ids.join() === knownKeys(used).map(fingerprint).join()) return
    const needed = await missing(ids)
    if (needed !== undefined)
      throw new SettingError(
        `The file ${path} lacks the key with fingerprint ${needed}, which the database needs.`,
      )
    used = next
    log.info({ master_key_ids: ids }, 'master key file reloaded')
  }

  const task = (path: string): PeriodicTask => ({
    name: 'master key reload',
    everySeconds: EVERY_SECONDS,
    async run() {
      try {
        await reload(path)
        refusal = undefined
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        if (error.message !== refusal)
          log.error({ reason: error.message }, 'the master key file changed and cannot be used')
        refusal = error.message
      }
    },
  })
  return { keys: () => used, tasks: file === undefined ? [] : [task(file)] }
}
