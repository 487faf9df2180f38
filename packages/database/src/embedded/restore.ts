import { chmodSync, chownSync, copyFileSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { openDatabase } from '../database.ts'
import { DatabaseFailure } from '../database-errors.ts'
import { CLUSTER_FOLDER, KEYS_FOLDER, readManifest, type BackupManifest } from './backup-manifest.ts'
import { checkVersion } from './cluster.ts'
import { eachOf } from './each-of.ts'
import { copyHashed, syncFolder } from './hashed-copy.ts'
import { stopServer } from './leftover-server.ts'
import { preparePlace, type Place } from './place.ts'
import { prepareRuntime } from './runtime.ts'
import { startEmbedded } from './start-embedded.ts'
import { lockDataDirectory, makeDataDirectory } from './start-lock.ts'

export interface RestoreOptions {
  readonly from: string
  readonly dataDirectory: string
  /** Replaces a database that is there; the old one is set aside, not deleted. */
  readonly force: boolean
  /** Secret files that a backup may hold, by name: they go into the data folder. */
  readonly keyFiles: readonly string[]
  readonly log: (line: string) => void
}

export interface Restored {
  readonly manifest: BackupManifest
  readonly location: string
  /** Last migration of what was restored. */
  readonly migration: string | undefined
}

/**
 * Puts a backup into a data folder, checks every file against its digest, and starts the database once to prove
 * that it recovers. Nothing is replaced before the copy is complete.
 */
export async function restore(options: RestoreOptions): Promise<Restored> {
  const { dataDirectory, log } = options
  const manifest = await putInPlace(options)
  log('Starting it once, to see that it recovers')
  await using server = await startEmbedded({ dataDirectory, log })
  const db = openDatabase({
    target: server.connection,
    maximumConnections: 1,
    applicationName: 'aex restore',
  })
  try {
    const rows = await db<{ name: string }[]>`select name from schema_migration order by number desc limit 1`
    return { manifest, location: server.location, migration: rows[0]?.name }
  } finally {
    await db.end()
  }
}

/** Copies a backup into a data folder without starting its database. */
export async function putInPlace({
  from,
  dataDirectory,
  force,
  keyFiles,
  log,
}: RestoreOptions): Promise<BackupManifest> {
  const manifest = readManifest(from)
  makeDataDirectory(dataDirectory)
  using lock = lockDataDirectory(dataDirectory)
  const place = preparePlace(lock.dataDirectory, log)
  const runtime = prepareRuntime(place, log)
  checkVersion(join(from, CLUSTER_FOLDER), runtime)
  if (existsSync(place.cluster) && !force) {
    throw new DatabaseFailure(
      `There is a database in ${place.cluster} already. Use another AEX_DATA_DIR, or --force to replace it.`,
    )
  }
  const draft = `${place.cluster}.restored`
  log(`Copying and checking ${manifest.files.length} files`)
  await copyIn(manifest, from, draft, place)
  if (existsSync(place.cluster)) {
    await stopServer(place.cluster)
    log(`The former database is now ${setAside(place.cluster)}`)
  }
  renameSync(draft, place.cluster)
  await syncFolder(place.folder)
  // The password inside came with the backup; the next start sets one of its own.
  rmSync(place.passwordFile, { force: true })
  for (const name of keyFiles) restoreKey(join(from, KEYS_FOLDER, name), join(dataDirectory, name), log)
  return manifest
}

async function copyIn(manifest: BackupManifest, from: string, draft: string, place: Place): Promise<void> {
  rmSync(draft, { recursive: true, force: true })
  const give = (path: string) => place.user && chownSync(path, place.user.uid, place.user.gid)
  for (const directory of ['', ...manifest.directories]) {
    await mkdir(join(draft, directory), { mode: 0o700 })
    give(join(draft, directory))
  }
  await eachOf(manifest.files, async ({ path, sha256 }) => {
    const copied = await copyHashed(join(from, CLUSTER_FOLDER, path), join(draft, path)).catch(
      () => undefined,
    )
    if (copied?.sha256 !== sha256) {
      throw new DatabaseFailure(
        `The backup is damaged: ${path} is ${copied ? 'not what was written' : 'missing or unreadable'}. ` +
          'Nothing was changed; use another backup.',
      )
    }
    give(join(draft, path))
  })
  await eachOf(['', ...manifest.directories], (directory) => syncFolder(join(draft, directory)))
}

/** A different key that is already there is set aside, never overwritten. */
function restoreKey(source: string, target: string, log: (line: string) => void): void {
  if (!existsSync(source) || isSame(source, target)) return
  if (existsSync(target)) log(`The former ${basename(target)} is now ${setAside(target)}`)
  copyFileSync(source, target)
  chmodSync(target, 0o600)
}

function isSame(one: string, other: string): boolean {
  return existsSync(other) && readFileSync(one).equals(readFileSync(other))
}

const MAXIMUM_SET_ASIDE = 1_000

function setAside(path: string): string {
  for (let number = 1; number <= MAXIMUM_SET_ASIDE; number++) {
    const name = `${path}.before-restore-${number}`
    if (existsSync(name)) continue
    renameSync(path, name)
    return name
  }
  throw new DatabaseFailure(`Too many former versions of ${path} are kept. Remove some.`)
}
