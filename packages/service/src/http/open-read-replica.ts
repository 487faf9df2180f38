import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import { type Database, openDatabase } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { createReadReplica, type ReadReplica } from '../kernel/read-replica.ts'
import { readDatabaseIdentity } from '../kernel/wal-position.ts'

/** Half of them serve transactions, and the replica uses nothing else. */
const MAXIMUM_CONNECTIONS = 20
const LIMITS = { maximumWaiting: 256, waitLimitMs: 1_000 }
/** A replica that is frozen or cut off cancels nothing: its connections end after this time, and others take their place. */
const ANSWER_LIMIT_MS = 3_000
/** A statement that takes longer is cancelled; the primary has answered by then. */
const SESSION_SETTINGS = { statement_timeout: '2000', default_transaction_read_only: 'on' }

export interface ReplicaParts {
  readonly primary: Database
  readonly clock: Clock
  readonly log: Pick<Logger, 'info' | 'warn'>
  readonly registry: Registry
}

/** The replica of AEX_DATABASE_READ_URL. It need not be reachable: until it is, the primary serves all reads. */
export async function openReadReplica(
  url: string,
  { primary, clock, log, registry }: ReplicaParts,
): Promise<ReadReplica & AsyncDisposable> {
  const reads = new Counter({
    name: 'aex_replica_reads_total',
    help: 'Reads that a replica may serve, by result: replica, or behind or unavailable (served by the primary)',
    labelNames: ['result'],
    registers: [registry],
  })
  const replica = openDatabase({
    target: url,
    maximumConnections: MAXIMUM_CONNECTIONS,
    applicationName: 'agent-exchange reads',
    sessionSettings: SESSION_SETTINGS,
    answerLimitMs: ANSWER_LIMIT_MS,
    ...LIMITS,
  })
  const { read } = createReadReplica({
    primary,
    replica,
    identity: await readDatabaseIdentity(primary),
    clock,
    onRead: (result) => reads.inc({ result }),
    onChange(result, reason) {
      if (result === 'replica') log.info('the read replica serves reads again')
      else log.warn({ result, reason }, 'the read replica is not used; the primary serves its reads')
    },
  })
  return { read, [Symbol.asyncDispose]: () => replica.end({ timeout: 1 }) }
}
