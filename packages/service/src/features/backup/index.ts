/** Backups of an exchange with an embedded database, for the command line. */
export { hasDatabase, restore, type Restored } from '@agent-exchange/database/embedded'
export { backUp, KEY_FILES } from './back-up.ts'
export { verifyBackup, type VerifiedBackup } from './verify-backup.ts'
