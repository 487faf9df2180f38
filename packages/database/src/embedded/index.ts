/** A PostgreSQL server of its own, in the data folder of a program. */
export { backUp, runningServer, type BackupOptions } from './backup.ts'
export { readManifest, type BackupManifest } from './backup-manifest.ts'
export { hasDatabase } from './place.ts'
export { putInPlace, restore, type Restored } from './restore.ts'
export {
  SERVICE_ROLE,
  serviceTarget,
  startEmbedded,
  type EmbeddedDatabase,
  type EmbeddedOptions,
} from './start-embedded.ts'
export { makeDataDirectory } from './start-lock.ts'
