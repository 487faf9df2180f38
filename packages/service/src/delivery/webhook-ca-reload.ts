import type { Logger } from 'pino'
import { readCertificates, SettingError, type WebhookConfig } from '../config/index.ts'
import type { PeriodicTask } from '../kernel/periodic.ts'

const EVERY_SECONDS = 10

export interface WebhookCaReload {
  /** PEM text of the additional authorities. */
  readonly ca: () => string | undefined
  /** None where no file is configured. */
  readonly tasks: readonly PeriodicTask[]
}

/** Reads the file of AEX_WEBHOOK_CA again. New connections trust the changed authorities. */
export function webhookCaReload(
  { ca, caFile }: WebhookConfig,
  log: Pick<Logger, 'info' | 'error'>,
): WebhookCaReload {
  let used = ca
  let refusal: string | undefined
  const task = (file: string): PeriodicTask => ({
    name: 'webhook CA reload',
    everySeconds: EVERY_SECONDS,
    async run() {
      try {
        const next = readCertificates(file)
        if (next !== used) log.info({ file }, 'webhook CA reloaded')
        used = next
        refusal = undefined
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        if (error.message !== refusal)
          log.error(
            { reason: error.message },
            'the webhook CA changed and cannot be used; the previous one stays in use',
          )
        refusal = error.message
      }
    },
  })
  return { ca: () => used, tasks: caFile === undefined ? [] : [task(caFile)] }
}
