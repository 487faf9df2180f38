import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import { eachOf } from './each-of.ts'
import { copyHashed, syncFolder } from './hashed-copy.ts'
import type { BackupManifest } from './backup-manifest.ts'

export type Copied = Pick<BackupManifest, 'directories' | 'files'>

/** PostgreSQL "Making a base backup": folders whose content belongs to the running server or is made again. */
const EMPTY = new Set(
  'pg_wal pg_replslot pg_dynshmem pg_notify pg_serial pg_snapshots pg_stat_tmp pg_subtrans'.split(' '),
)
const LEFT_OUT = /^(?:postmaster\.(?:pid|opts)|pgsql_tmp.*|pg_internal\.init.*|current_logfiles.*)$/u
/** Copied last, so that it is never older than the files it speaks of. */
const CONTROL_FILE = 'global/pg_control'

/** Copies a data folder while the server writes to it; the log of that time makes the copy whole. */
export async function copyCluster(from: string, to: string): Promise<Copied> {
  const directories: string[] = []
  const files: Copied['files'][number][] = []
  const copyFile = async (path: string) => {
    const copied = await copyHashed(join(from, path), join(to, path)).catch(ignoreVanished)
    if (copied) files.push({ path, ...copied })
  }
  const paths: string[] = []
  const visit = async (folder: string) => {
    await mkdir(join(to, folder), { mode: 0o700 })
    if (folder !== '') directories.push(folder)
    const entries = EMPTY.has(folder)
      ? []
      : await readdir(join(from, folder), { withFileTypes: true }).catch(ignoreVanished)
    for (const entry of entries ?? []) {
      const path = join(folder, entry.name)
      if (LEFT_OUT.test(entry.name) || path === CONTROL_FILE) continue
      if (entry.isDirectory()) await visit(path)
      else if (entry.isFile()) paths.push(path)
      else
        throw new DatabaseFailure(
          `${join(from, path)} lies outside the database folder and cannot be backed up.`,
        )
    }
  }
  await visit('')
  await eachOf(paths, copyFile)
  for (const status of ['pg_wal/archive_status', 'pg_wal/summaries']) {
    await mkdir(join(to, status), { mode: 0o700 })
    directories.push(status)
  }
  await copyFile(CONTROL_FILE)
  await eachOf(['', ...directories], (folder) => syncFolder(join(to, folder)))
  return { directories, files }
}

/** Tables are dropped and files truncated away while we read; the log knows. */
function ignoreVanished(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
  throw error
}
