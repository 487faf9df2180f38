import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Database, openDatabase, type SocketTarget } from '@agent-exchange/database'
import {
  type EmbeddedDatabase,
  putInPlace,
  readManifest,
  runningServer,
  SERVICE_ROLE,
  startEmbedded,
} from '@agent-exchange/database/embedded'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import { checkpointFile } from '../transparency-log/checkpoint-file.ts'
import { readLogState } from '../transparency-log/log-state-store.ts'
import { KEY_FILES } from './back-up.ts'
import { checkAuditChains } from './check-audit-chains.ts'
import { checkKnownCheckpoint, checkTiles, type KnownCheckpoint } from './check-log.ts'
import { checkPlatformKeys } from './check-platform-keys.ts'
import { checkRows } from './check-rows.ts'
import { checkSchema } from './check-schema.ts'
import { runCheck, type BackupCheck } from './check.ts'

interface VerifyBackupOptions {
  readonly folder: string
  /** A folder for the temporary copy, which needs as much space as the backup; by default that of the system. */
  readonly workFolder?: string | undefined
  /** The master keys that are at hand, given the data folder of the temporary copy. */
  readonly masterKeys: (restoredDataDirectory: string) => MasterKeys | undefined
  /** Data folder of the exchange, for its last checkpoint. */
  readonly dataDirectory: string
  /** Text of a published checkpoint, instead of that of the data folder. */
  readonly checkpoint?: string | undefined
  readonly log: (line: string) => void
}

export interface VerifiedBackup {
  readonly made_at: string
  readonly checks: readonly BackupCheck[]
  /** `damaged`: a check failed. `incomplete`: nothing failed, and something could not be proved. */
  readonly verdict: 'restorable' | 'incomplete' | 'damaged'
  readonly never_proved: readonly string[]
}

/** What no restore can show. */
const NEVER_PROVED = [
  'that sealed content can be opened: only its recipients have the keys',
  'that nothing was written after the backup ended: compare its time',
]

/**
 * Restores a backup into a temporary folder, starts PostgreSQL there and checks what it holds. Nothing of the running
 * exchange is touched.
 */
export async function verifyBackup(options: VerifyBackupOptions): Promise<VerifiedBackup> {
  const { folder, log } = options
  const { made_at, files } = readManifest(folder)
  const work = mkdtempSync(join(options.workFolder ?? tmpdir(), 'aex-verify-'))
  // As root, PostgreSQL runs as another user.
  chmodSync(work, 0o711)
  try {
    const dataDirectory = join(work, 'data')
    const copied = await runCheck('files', async () => {
      await putInPlace({ from: folder, dataDirectory, keyFiles: KEY_FILES, force: false, log })
      return `All ${files.length} files have their digests.`
    })
    const checks = copied.result === 'proved' ? await checkRestored(dataDirectory, options) : []
    const all = [copied, ...checks]
    return { made_at, checks: all, verdict: verdictOf(all), never_proved: NEVER_PROVED }
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

async function checkRestored(dataDirectory: string, options: VerifyBackupOptions): Promise<BackupCheck[]> {
  await using cleanup = new AsyncDisposableStack()
  const open = (target: SocketTarget) => {
    const db = openDatabase({ target, maximumConnections: 4, applicationName: 'aex backup verify' })
    cleanup.defer(() => db.end())
    return db
  }
  let server: EmbeddedDatabase | undefined
  const started = await runCheck('start', async () => {
    server = cleanup.use(await startEmbedded({ dataDirectory, log: options.log }))
    return `PostgreSQL ${server.version} starts and recovers.`
  })
  if (!server) return [started]
  const live = runningServer(options.dataDirectory)
  const checks = await checkDatabase(open(server.connection), {
    masterKeys: options.masterKeys(dataDirectory),
    known: async (origin) =>
      options.checkpoint === undefined
        ? checkpointFile(options.dataDirectory).read(origin)
        : { note: options.checkpoint },
    live: live && open({ ...live.target, database: SERVICE_ROLE }),
  })
  return [started, ...checks]
}

interface DatabaseCheckOptions {
  readonly masterKeys: MasterKeys | undefined
  readonly known: (origin: string) => Promise<KnownCheckpoint>
  /** The database of the running exchange. */
  readonly live: Database | undefined
}

async function checkDatabase(
  db: Database,
  { masterKeys, known, live }: DatabaseCheckOptions,
): Promise<BackupCheck[]> {
  const schema = await runCheck('schema', () => checkSchema(db))
  if (schema.result !== 'proved') return [schema]
  return [
    schema,
    await runCheck('rows', () => checkRows(db)),
    await runCheck('audit chains', () => checkAuditChains(db)),
    await runCheck('platform keys', () => checkPlatformKeys(db, masterKeys)),
    await runCheck('transparency log', () => checkTiles(db)),
    await runCheck('published checkpoint', async () => {
      const { origin } = await readLogState(db)
      return checkKnownCheckpoint(db, await known(origin), live)
    }),
  ]
}

function verdictOf(checks: readonly BackupCheck[]): VerifiedBackup['verdict'] {
  if (checks.some(({ result }) => result === 'failed')) return 'damaged'
  return checks.every(({ result }) => result === 'proved') ? 'restorable' : 'incomplete'
}
