import type { Logger } from 'pino'
import type { Database } from '@agent-exchange/database'
import { codeLevelOf, createProcessWatch, migrate } from '@agent-exchange/database/migrations'
import { systemClock, type Clock } from '@agent-exchange/server/clock'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import type { EvidenceVersion } from '../../kernel/context.ts'
import { readEvidenceVersion } from '../audit/evidence-version.ts'
import { announceProcess, removeProcess } from '../overview/process-store.ts'
import { fillThumbprints } from './fill-thumbprints.ts'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'

const RETRY_SECONDS = 5

interface Registration {
  readonly processId: string
  readonly role: string
  readonly startedAt: string
}

/** The schema that this release needs, and this process registered as one that uses it. */
export interface PreparedSchema extends AsyncDisposable {
  readonly processId: string
  /** The last migration of this release. */
  readonly codeLevel: number
  /** Of the evidence of packages that are accepted now. Changes once no process of an older release is left. */
  readonly evidenceVersion: () => EvidenceVersion
  /** Finishes the upgrade: backfills, then contract migrations, once no process of an older release is left. */
  readonly task: PeriodicTask
}

interface UpgradedDatabase {
  readonly db: Database
  /** Leads to the server without a pooler, and may wait long for an answer. */
  readonly openDirect: (purpose: 'migrations') => Database
}

export async function prepareSchema(
  { db, openDirect }: UpgradedDatabase,
  { processId, role, startedAt }: Registration,
  log: Logger,
  { monotonicMilliseconds }: Pick<Clock, 'monotonicMilliseconds'> = systemClock,
): Promise<PreparedSchema> {
  const migrations = readServiceMigrations()
  const codeLevel = codeLevelOf(migrations)
  const self = { process_id: processId, role, started_at: startedAt, code_level: codeLevel }
  const watch = createProcessWatch(monotonicMilliseconds)
  const run = async () => {
    const direct = openDirect('migrations')
    try {
      return await migrate(direct, migrations, (tx) => announceProcess(tx, self), watch)
    } finally {
      await direct.end()
    }
  }
  const first = await run()
  let { waiting } = first
  let evidenceVersion = await readEvidenceVersion(db)
  if (first.applied.length > 0) log.info({ applied: first.applied }, 'database migrated')
  if (waiting) log.info({ waiting }, 'a contract migration waits')
  return {
    processId,
    codeLevel,
    evidenceVersion: () => evidenceVersion,
    task: {
      name: 'schema upgrade',
      everySeconds: RETRY_SECONDS,
      async run(signal) {
        if (waiting) {
          await fillThumbprints(db, signal)
          const next = await run()
          ;({ waiting } = next)
          if (next.applied.length > 0) log.info({ applied: next.applied }, 'database migrated')
        }
        if (evidenceVersion === 1) evidenceVersion = await readEvidenceVersion(db)
      },
    },
    async [Symbol.asyncDispose]() {
      // The database may be gone already, and the end of a process does not wait for it.
      await removeProcess(db, processId).catch(() => undefined)
    },
  }
}
