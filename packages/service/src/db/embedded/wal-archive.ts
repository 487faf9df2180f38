import { accessSync, chmodSync, chownSync, constants, mkdirSync } from 'node:fs'
import { DatabaseFailure } from '../database-errors.ts'
import type { Place } from './place.ts'
import { canEnter } from './server-user.ts'
import type { ServerSettings } from './settings.ts'

/** If the disk of the database is lost, the archive lacks at most the last seconds before. */
const ARCHIVE_SECONDS = 60

/**
 * Settings that archive each segment of the write-ahead log once, durably. The configuration allows no path that a shell
 * interprets.
 */
export function archiveSettings(folder: string, place: Place): ServerSettings {
  prepareFolder(folder, place)
  // A segment may be archived again after a crash: then it has to be the same.
  const target = `"${folder}/%f"`
  const draft = `"${folder}/.%f"`
  const command = `if test -f ${target}; then cmp -s "%p" ${target}; else cp "%p" ${draft} && sync ${draft} && mv ${draft} ${target}; fi`
  return {
    archive_mode: 'on',
    archive_command: command,
    archive_timeout: String(ARCHIVE_SECONDS),
  }
}

/** It holds what the database holds, so only the server's user may read it. */
function prepareFolder(folder: string, { user }: Place): void {
  try {
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(folder, 0o700)
    if (user) chownSync(folder, user.uid, user.gid)
    accessSync(folder, constants.W_OK)
    if (canEnter(folder, user)) return
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown failure'
    throw new DatabaseFailure(`The archive ${folder} cannot be used: ${reason}.`)
  }
  throw new DatabaseFailure(
    `User ${user?.uid}, as which PostgreSQL runs, cannot reach the archive ${folder}. ` +
      'Let it through the folders above (chmod o+x), or set AEX_WAL_ARCHIVE to another folder.',
  )
}
