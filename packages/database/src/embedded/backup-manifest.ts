import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import type { CopiedFile } from './hashed-copy.ts'

export const BACKUP_FORMAT = 1
export const MANIFEST_FILE = 'backup.json'
/** In a backup: PostgreSQL's files, and the keys where they were asked for. */
export const CLUSTER_FOLDER = 'cluster'
export const KEYS_FOLDER = 'keys'

/** Written last: a backup without it is not complete. */
export interface BackupManifest {
  readonly format: typeof BACKUP_FORMAT
  readonly made_at: string
  readonly postgresql_major: string
  /** Of the master key that opens the database. */
  readonly master_key_fingerprint: string
  readonly with_keys: boolean
  readonly directories: readonly string[]
  readonly files: readonly ({ readonly path: string } & CopiedFile)[]
}

export function readManifest(backup: string): BackupManifest {
  const file = join(backup, MANIFEST_FILE)
  if (!existsSync(file)) {
    throw new DatabaseFailure(
      `${backup} is not a complete backup: it has no ${MANIFEST_FILE}, which is written last.`,
    )
  }
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as BackupManifest
  if (manifest.format !== BACKUP_FORMAT) {
    throw new DatabaseFailure(`${backup} is a backup of a format that this release does not know.`)
  }
  // Paths in it become paths that we write.
  const paths = [...manifest.directories, ...manifest.files.map(({ path }) => path)]
  if (paths.some((path) => path.startsWith('/') || path.split('/').includes('..'))) {
    throw new DatabaseFailure(`${file} names a path outside the backup.`)
  }
  return manifest
}
