/** The database without the service: for the command line and for tests. */
export * from './database.ts'
export { DatabaseFailure } from './database-errors.ts'
export * from '../migrations/migrate.ts'
export * from './embedded/start-embedded.ts'
export * from './embedded/backup.ts'
export { fingerprint, type BackupManifest } from './embedded/backup-manifest.ts'
export * from './embedded/restore.ts'
export { hasDatabase } from './embedded/place.ts'
