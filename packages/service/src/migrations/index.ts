/** The schema of the service, without the service: for the command line and for tests. */
export { DatabaseFailure } from '@agent-exchange/database'
export {
  migrate,
  migratedText,
  planMigrations,
  planText,
  type Migrated,
  type MigrationPlan,
} from '@agent-exchange/database/migrations'
export { openPlace } from './open-place.ts'
export { readServiceMigrations } from './service-migrations.ts'
