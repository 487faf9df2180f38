/** Numbered SQL files, applied once each, beside processes of the previous release. */
export { migrate, MIGRATION_LOCK, type Migrated } from './migrate.ts'
export { codeLevelOf, readMigrations, type Migration } from './migration-files.ts'
export { migratedText, planText } from './migration-text.ts'
export { headerOf } from './migration-header.ts'
export { planMigrations, type MigrationPlan } from './plan.ts'
export { ALIVE_SECONDS, REPORT_SECONDS } from './process-liveness.ts'
export { createProcessWatch } from './process-watch.ts'
