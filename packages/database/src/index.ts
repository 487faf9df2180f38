export { column, copyTarget, type CopyTarget } from './copy.ts'
export * from './database.ts'
export {
  DatabaseFailure,
  isLockTimeout,
  isReadOnly,
  isUnavailable,
  loggableError,
  sqlState,
} from './database-errors.ts'
export { mayFailoverLose, readReplication, REPLICATIONS, type Replication } from './replication.ts'
export { checkSameDatabase } from './same-database.ts'
export {
  afterCommit,
  afterEnd,
  deferToCommit,
  inTransaction,
  type TransactionOutcome,
} from './transaction.ts'
