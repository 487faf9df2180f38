import type { CertificateReload } from '@agent-exchange/server/certificate-reload'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { masterKeyReload } from '@agent-exchange/server/master-key-reload'
import { reloadListeners, type Listeners } from '../http/certificate-reload.ts'
import { missingKeyId } from '../platform-keys/platform-secrets.ts'
import type { Base } from './base.ts'
import { caReload } from './ca-reload.ts'

export type WatchedFiles = ReturnType<typeof watchFiles>

/** Keys and certificates whose files are read again when they change. */
export function watchFiles({ config, db, log }: Base) {
  const masterKeys = masterKeyReload({ config, missing: (ids) => missingKeyId(db, ids), log })
  const webhookCa = caReload('webhook CA', config.webhook, log)
  const forwardedClientCa = caReload('client CA', config.forwardedClientCa ?? { ca: undefined }, log)
  let listeners: CertificateReload | undefined
  return {
    masterKeys: masterKeys.keys,
    webhookCa: webhookCa.ca,
    /** PEM text of what the listeners use now. */
    tls() {
      const used = listeners?.used() ?? config.tls
      return { certificate: used?.certificate, clientCa: used?.clientCa ?? forwardedClientCa.ca() }
    },
    /** The listeners are made after their certificate is first reported. */
    follow(servers: Listeners): void {
      listeners = reloadListeners(config.tls, servers, log)
    },
    tasks: (): readonly PeriodicTask[] => [
      ...masterKeys.tasks,
      ...webhookCa.tasks,
      ...forwardedClientCa.tasks,
      ...(listeners ? [listeners] : []),
    ],
  }
}
