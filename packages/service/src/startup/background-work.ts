import { startPeriodic, type PeriodicTask } from '@agent-exchange/server/periodic'
import { alertTask } from '../features/alerts/alert-outbox.ts'
import { expiryAlertTask } from '../features/expiry/alert-expiry.ts'
import { makePartitions } from '../features/retention/make-partitions.ts'
import { checkpointFile } from '../features/transparency-log/checkpoint-file.ts'
import { logAlertTask } from '../features/transparency-log/log-alerts.ts'
import { startSequencer } from '../features/transparency-log/sequencer.ts'
import { randomId } from '../kernel/ids.ts'
import type { Tracing } from '../kernel/tracing.ts'
import { startDelivery } from '../webhooks/worker/engine.ts'
import type { Base } from './base.ts'
import type { Exchange } from './open-exchange.ts'
import { periodicTasks } from './periodic-tasks.ts'
import type { ProcessMetrics } from './process-metrics.ts'
import type { WatchedFiles } from './watched-files.ts'

/** Work at intervals. What the first request relies on has run once before. */
export async function startTasks(
  base: Base,
  { context, platformKeys }: Exchange,
  { storage, log: logMetrics, expiry }: ProcessMetrics,
  others: readonly PeriodicTask[],
): Promise<void> {
  const { config, db, clock, log, schema, cleanup } = base
  const { profile, publicUrl } = config
  const mail = config.smtp && cleanup.use(await openMail(config.smtp))
  await expiry.run()
  await makePartitions(db, clock.now())
  const tasks = [
    ...periodicTasks(db, context, platformKeys, storage.onRetention, log),
    logAlertTask({ db, profile, clock, onStatus: logMetrics.onStatus }),
    expiryAlertTask({ db, profile, clock }),
    expiry,
    alertTask({ db, profile, clock, publicUrl, log, send: mail?.send }),
    schema.task,
    storage.task,
    ...others,
  ]
  cleanup.use(startPeriodic(tasks, log))
}

/** Loaded where there is a mail server: most exchanges have none, and it is a tenth of all we load. */
async function openMail(smtp: NonNullable<Base['config']['smtp']>) {
  const { mailTransport } = await import('@agent-exchange/server/mail-transport')
  return mailTransport(smtp)
}

/** Webhooks and the transparency log. */
export function startWorkers(
  { config, db, openDirect, clock, log, schema, cleanup }: Base,
  { platformKeys, logKeys, directClaims }: Exchange,
  metrics: ProcessMetrics,
  { webhookCa, tracing }: Pick<WatchedFiles, 'webhookCa'> & { readonly tracing: Tracing | undefined },
): void {
  const { profile, webhook, witnesses, dataDirectory } = config
  const delivery = cleanup.use(
    startDelivery({
      db,
      openListener: () => openDirect('sessions'),
      profile,
      clock,
      newId: randomId,
      log,
      webhookKeys: platformKeys.webhook,
      webhook: { ca: webhookCa, allowPrivate: webhook.allowPrivate },
      metrics: metrics.registry,
      onAttempt: metrics.counters.onAttempt,
      tracing,
    }),
  )
  directClaims.attach(delivery)
  cleanup.use(
    startSequencer({
      db,
      clock,
      profile,
      log,
      file: checkpointFile(dataDirectory),
      keys: logKeys,
      witnesses,
      holder: schema.processId,
      metrics: metrics.log,
    }),
  )
}
