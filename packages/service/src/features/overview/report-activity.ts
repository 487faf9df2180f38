import { statfs } from 'node:fs/promises'
import type { Database } from '@agent-exchange/database'
import { REPORT_SECONDS } from '@agent-exchange/database/migrations'
import type { Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { Activity } from '../../kernel/activity.ts'
import { addActivity } from './activity-store.ts'
import { expiryOf, type UsedCertificates } from './certificate-expiry.ts'
import { reportProcess } from './process-store.ts'

interface ReportSettings {
  readonly db: Database
  readonly clock: Clock
  readonly activity: Activity
  readonly processId: string
  readonly role: string
  /** The last migration of this release. */
  readonly codeLevel: number
  /** PEM text of what the listeners use now. */
  readonly tls: () => UsedCertificates
  /** Fingerprints of the master keys that the process has now. */
  readonly masterKeyIds: () => readonly string[]
  /** Folder of the embedded database; undefined if the database is elsewhere. */
  readonly databaseFolder: string | undefined
  readonly onDisk: (bytes: { readonly free: number; readonly total: number }) => void
}

export interface Report extends Omit<PeriodicTask, 'run'>, AsyncDisposable {
  readonly run: () => Promise<void>
}

/** Adds the counters of this process to those of all, and says that it is alive. */
export function createReport(settings: ReportSettings): Report {
  const { db, clock, activity, processId, role, codeLevel, databaseFolder } = settings
  const startedAt = clock.now()

  async function run(): Promise<void> {
    const rows = activity.take()
    await addActivity(db, rows).catch((error: unknown) => {
      activity.giveBack(rows)
      throw error
    })
    const tls = settings.tls()
    const disk = databaseFolder === undefined ? undefined : await readDisk(databaseFolder)
    if (disk) settings.onDisk(disk)
    await reportProcess(db, {
      process_id: processId,
      role,
      code_level: codeLevel,
      started_at: startedAt,
      certificate_expires_at: expiryOf(tls.certificate),
      client_ca_expires_at: expiryOf(tls.clientCa),
      master_key_ids: settings.masterKeyIds(),
      disk_free_bytes: disk?.free ?? null,
      disk_total_bytes: disk?.total ?? null,
    })
  }

  return {
    name: 'activity',
    everySeconds: REPORT_SECONDS,
    run,
    /** At shutdown nothing that was counted is lost. */
    async [Symbol.asyncDispose]() {
      // The database may be gone already, and the end of a process does not wait for it.
      await addActivity(db, activity.take()).catch(() => undefined)
    },
  }
}

async function readDisk(folder: string): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
