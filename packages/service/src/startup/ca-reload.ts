import type { Logger } from 'pino'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { readCertificates, SettingError, type CaConfig } from '../config/index.ts'

const EVERY_SECONDS = 10

export interface CaReload {
  /** PEM text of the authorities. */
  readonly ca: () => string | undefined
  /** None where no file is configured. */
  readonly tasks: readonly PeriodicTask[]
}

/** Reads a file of certificate authorities again. New connections trust the changed authorities. */
export function caReload(
  name: 'webhook CA' | 'client CA',
  { ca, caFile }: CaConfig,
  log: Pick<Logger, 'info' | 'error'>,
): CaReload {
  let used = ca
  let refusal: string | undefined
  const task = (file: string): PeriodicTask => ({
    name: `${name} reload`,
    everySeconds: EVERY_SECONDS,
    async run() {
      try {
        const next = readCertificates(file)
        if (next !== used) log.info({ file }, `${name} reloaded`)
        used = next
        refusal = undefined
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        if (error.message !== refusal)
          log.error(
            { reason: error.message },
            `the ${name} changed and cannot be used; the previous one stays in use`,
          )
        refusal = error.message
      }
    },
  })
  return { ca: () => used, tasks: caFile === undefined ? [] : [task(caFile)] }
}
