import type { Logger } from 'pino'
import {
  checkSameDatabase,
  type ConnectionSettings,
  mayFailoverLose,
  openDatabase,
  readReplication,
} from '@agent-exchange/database'
import { type EmbeddedDatabase, startEmbedded } from '@agent-exchange/database/embedded'
import type { Clock } from '@agent-exchange/server/clock'
import { namesSeveralHosts, type Config } from '../config/index.ts'

const MAXIMUM_CONNECTIONS = 20
/** Of the operator API and the console, so that agents cannot occupy them. */
const OPERATOR_CONNECTIONS = 8

interface StorageOptions {
  /** The embedded database, if it is running already. */
  readonly embedded?: EmbeddedDatabase
  readonly progress: (line: string) => void
  readonly log: Logger
  readonly clock: Clock
}

/** Refuses two addresses that lead to different databases, and warns of what an operator should change. */
export async function checkDatabase({ db, openDirect }: Storage, config: Config, log: Logger): Promise<void> {
  if (config.databaseDirectUrl !== undefined) {
    const direct = openDirect('migrations')
    try {
      await checkSameDatabase(db, direct)
    } finally {
      await direct.end()
    }
  }
  const [role] = await db<{ superuser: string }[]>`select current_setting('is_superuser') as superuser`
  if (role?.superuser === 'on') {
    log.warn(
      'the role of DATABASE_URL is a superuser: use one that owns the database and has no other privilege',
    )
  }
  if (mayFailoverLose(await readReplication(db), namesSeveralHosts(config)))
    log.warn(
      'replication is not synchronous: a failover may lose accepted packages; set synchronous_standby_names, and leave synchronous_commit on',
    )
}

export type Storage = Awaited<ReturnType<typeof openStorage>>

export async function openStorage(
  { databaseUrl, databaseDirectUrl, dataDirectory }: Config,
  cleanup: AsyncDisposableStack,
  { embedded, progress, log, clock }: StorageOptions,
) {
  let target: ConnectionSettings['target']
  let failed = new Promise<Error>(() => undefined)
  if (databaseUrl === undefined) {
    const server = embedded ?? cleanup.use(await startEmbedded({ dataDirectory, log: progress }))
    target = server.connection
    failed = server.failed
  } else target = databaseUrl
  const applicationName = 'agent-exchange'
  let answeredAt = clock.monotonicMilliseconds()
  const db = openDatabase({
    target,
    directTarget: databaseDirectUrl,
    purpose: 'requests',
    onServerGone: () =>
      log.warn('the database does not answer or is no longer the primary: dropped the connections to it'),
    onServerAnswer: () => (answeredAt = clock.monotonicMilliseconds()),
    maximumConnections: MAXIMUM_CONNECTIONS,
    applicationName,
  })
  cleanup.defer(() => db.end({ timeout: 5 }))
  const operatorDb = db.reserve('operator', OPERATOR_CONNECTIONS)
  const openDirect = (purpose: 'sessions' | 'migrations') =>
    openDatabase({ target: databaseDirectUrl ?? target, purpose, maximumConnections: 1, applicationName })
  /** Undefined with the embedded database: the service ends if that does. */
  const secondsSinceAnswer =
    databaseUrl === undefined ? undefined : () => (clock.monotonicMilliseconds() - answeredAt) / 1_000
  return { db, operatorDb, openDirect, failed, secondsSinceAnswer }
}
