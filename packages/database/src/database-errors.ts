import pg from 'pg'

/** The database cannot be used, for a reason that the operator can fix. The message says how. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure'
}

/** No usable connection to the database: the same request may succeed on another one. */
export class ConnectionLost extends Error {
  readonly code: string

  constructor(message: string, code = 'CONNECTION_CLOSED', options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The connection was lost before the commit was sent: nothing was committed. */
export class TransactionLost extends ConnectionLost {
  constructor(cause: unknown) {
    super('the connection was lost in a transaction', 'TRANSACTION_LOST', { cause })
  }
}

/** The connection was lost after the commit was sent: only the database knows whether it was committed. */
export class CommitInDoubt extends ConnectionLost {
  constructor(cause: unknown) {
    super('the connection was lost during a commit', 'COMMIT_IN_DOUBT', { cause })
  }
}

/** What PostgreSQL answered. Every other error of a connection means that it is lost, whatever its code. */
export function lossOr(error: unknown): unknown {
  const code = sqlState(error)
  if (code === undefined)
    return new ConnectionLost('the connection to the database ended', undefined, { cause: error })
  if (error instanceof pg.DatabaseError || isUnavailable(error)) return error
  return new ConnectionLost((error as Error).message, code, { cause: error })
}

/** feature_not_supported: a migration changed the columns of a prepared statement. It must be prepared again. */
export const PLAN_OUTDATED = '0A000'

/** The SQLSTATE of a database error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** read_only_sql_transaction: the server is no longer the primary. */
const READ_ONLY = '25006'

/** object_not_in_prerequisite_state: the functions of the write-ahead log fail with it on a standby. */
const WRONG_STATE = '55000'
const LOG_FUNCTION = /^pg_(?:current_wal|walfile_name)/u

/** Whether the server has become a standby: no connection to it is of use any more. */
export function isReadOnly(error: unknown): boolean {
  if (sqlState(error) === READ_ONLY) return true
  return (
    error instanceof pg.DatabaseError && error.code === WRONG_STATE && LOG_FUNCTION.test(error.routine ?? '')
  )
}

/** Errors after which the server closes the connection. They arrive before the end of the connection does. */
const SESSION_ENDS = /^(?:08|25P03|57P)/u
const SESSION_ENDS_BY: ReadonlySet<string | undefined> = new Set(['FATAL', 'PANIC'])

export function endsSession(error: unknown): boolean {
  if (error instanceof pg.DatabaseError && SESSION_ENDS_BY.has(error.severity)) return true
  return SESSION_ENDS.test(sqlState(error) ?? '')
}

/**
 * SQLSTATE classes (connection exceptions, read-only server, idle in a transaction for too long, refused credentials, no
 * such database, rollback by the server such as after a deadlock, insufficient resources, lock or statement timeout,
 * operator intervention, input and output of the server) and errors of the operating system.
 */
const UNAVAILABLE =
  /^(?:08|25006|25P03|28|3D000|40|53|55P03|57|58|EAI_AGAIN|ECONN|EHOSTUNREACH|ENETUNREACH|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT)/u

/** Whether the database could not be used at all: the same request may succeed in a moment. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof ConnectionLost || isReadOnly(error) || endsSession(error)) return true
  return UNAVAILABLE.test(sqlState(error) ?? '')
}

/** Connection exceptions, the end of the session by an administrator or a crash, and errors of the operating system. */
const LOST = /^(?:08|57P0[123]|ECONN|EPIPE|ETIMEDOUT)/u

/** Whether a statement failed because of its connection or its server: it may succeed on another connection at once. */
export function isConnectionLoss(error: unknown): boolean {
  return error instanceof ConnectionLost || isReadOnly(error) || LOST.test(sqlState(error) ?? '')
}

/** check_violation: of a table's constraint, which has a name, or of a partition's bounds. */
const CHECK_VIOLATION = '23514'

/** Whether a row was sent to the default partition while the one that it belongs to was attached. */
export function missedItsPartition(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === CHECK_VIOLATION && error.constraint === undefined
}

/** Whether a statement gave up waiting for a lock: its lock_timeout passed. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === '55P03'
}

/** The loggable part of an error: the messages and details of PostgreSQL quote values, which are content. */
export function loggableError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  const { code, table, constraint, routine } = error
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  const place = { table_name: table, constraint_name: constraint }
  return { type: 'DatabaseError', code, ...place, routine, stack: frames.join('\n') }
}
