import { chownSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import type { Place } from './place.ts'
import type { Runtime } from './runtime.ts'
import { runServer } from './server-process.ts'
import { serverSettings } from './settings.ts'
import { makeSocketDirectory, removeSocketDirectory } from './socket-directory.ts'

export interface RecoveryTarget {
  /** Folder of the archived write-ahead log. */
  readonly folder: string
  /**
   * A time, the end of the backup, or the end of the archive. In each case the restored server begins a new
   * timeline, so it never archives another segment under a name that the archive has.
   */
  readonly until: { readonly time: string } | 'backup' | 'end'
}

const SAFE_PATH = /^[\w./@+-]+$/u

/** Starts the restored server once, so that it replays the archive and begins a new timeline. */
export async function replayArchive(
  place: Place,
  runtime: Runtime,
  { folder, until }: RecoveryTarget,
  log: (line: string) => void,
): Promise<void> {
  if (!SAFE_PATH.test(folder))
    throw new DatabaseFailure(`The path of the archive ${folder} has characters that a shell interprets.`)
  requireSegments(folder)
  const signal = join(place.cluster, 'recovery.signal')
  writeFileSync(signal, '', { mode: 0o600 })
  if (place.user) chownSync(signal, place.user.uid, place.user.gid)
  const settings = serverSettings({
    restore_command: `cp "${folder}/%f" "%p"`,
    recovery_target_action: 'promote',
    // Nobody reads meanwhile, and a server that was started with more connections can be replayed.
    hot_standby: 'off',
    ...(until === 'backup' && { recovery_target: 'immediate' }),
    // PostgreSQL does not know the zone `Z` when it reads its settings.
    ...(typeof until === 'object' && { recovery_target_time: until.time.replace(/Z$/u, '+00') }),
  })
  if (until !== 'backup')
    log(`Replaying the archive ${folder} until ${typeof until === 'object' ? until.time : 'its end'}`)
  const socketDirectory = makeSocketDirectory(place, Number(settings['port']))
  try {
    const server = await runServer({ place, runtime, socketDirectory, settings, log })
    await server.stop()
  } finally {
    removeSocketDirectory(socketDirectory, place)
  }
}

function requireSegments(folder: string): void {
  let names: string[] = []
  try {
    names = readdirSync(folder)
  } catch {
    throw new DatabaseFailure(`The archive ${folder} cannot be read.`)
  }
  if (!names.some((name) => /^[0-9A-F]{24}$/u.test(name)))
    throw new DatabaseFailure(`The archive ${folder} has no segment of a write-ahead log.`)
}
