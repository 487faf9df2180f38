import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase, type Queries, type SocketTarget } from '../database.ts'
import { DatabaseFailure } from '../database-errors.ts'
import {
  BACKUP_FORMAT,
  CLUSTER_FOLDER,
  KEYS_FOLDER,
  MANIFEST_FILE,
  type BackupManifest,
} from './backup-manifest.ts'
import { SUPERUSER } from './cluster.ts'
import { copyCluster, type Copied } from './copy-cluster.ts'
import { copyHashed, describe, syncFolder } from './hashed-copy.ts'
import { readServerFile } from './leftover-server.ts'
import { hasDatabase, preparePlace } from './place.ts'
import { SERVICE_ROLE, startEmbedded } from './start-embedded.ts'
import { lockHolder } from './start-lock.ts'

export interface BackupOptions {
  readonly dataDirectory: string
  /** A folder that is not there yet, or empty. */
  readonly to: string
  /** Fingerprint of the key that opens what is encrypted in the database, so that a restore can ask for that key. */
  readonly keyFingerprint: (db: Queries) => Promise<string>
  /** Secret files to put beside the data, by name; whoever has the backup then has everything. */
  readonly keyFiles?: Readonly<Record<string, string>> | undefined
  readonly now: string
  readonly log: (line: string) => void
}

/**
 * A backup of the embedded database, consistent as of its end, while its program runs or while it does not. Without
 * `keyFiles`, nobody reads what is encrypted in it without the key.
 */
export async function backUp(options: BackupOptions): Promise<BackupManifest> {
  const { dataDirectory, to, log } = options
  if (!hasDatabase(dataDirectory)) throw new DatabaseFailure(`There is no database in ${dataDirectory}.`)
  if (existsSync(to) && readdirSync(to).length > 0) {
    throw new DatabaseFailure(`${to} is not empty. Name a new folder for the backup.`)
  }
  await mkdir(to, { recursive: true, mode: 0o700 })
  const running = runningServer(dataDirectory)
  if (running) return writeBackup(options, running)
  await using server = await startEmbedded({ dataDirectory, log })
  return await writeBackup(options, { cluster: server.location, target: server.administration })
}

interface Source {
  readonly cluster: string
  readonly target: SocketTarget
}

/** The server of the running service, by what it says of itself in its own folder. */
export function runningServer(dataDirectory: string): Source | undefined {
  if (lockHolder(dataDirectory) === undefined) return undefined
  const { cluster, passwordFile } = preparePlace(dataDirectory, () => undefined)
  const { socketDirectory, port, isReady } = readServerFile(cluster)
  if (!isReady) throw new DatabaseFailure('The database is starting or stopping. Try again in a moment.')
  const password = readFileSync(passwordFile, 'utf8').trim()
  return { cluster, target: { socketDirectory, port, user: SUPERUSER, password, database: 'postgres' } }
}

async function writeBackup(options: BackupOptions, { cluster, target }: Source): Promise<BackupManifest> {
  const { to, now, keyFiles } = options
  const copied = await copyOnline(cluster, join(to, CLUSTER_FOLDER), target, options.log)
  if (keyFiles) await writeKeys(join(to, KEYS_FOLDER), keyFiles)
  const manifest: BackupManifest = {
    format: BACKUP_FORMAT,
    made_at: now,
    postgresql_major: readFileSync(join(to, CLUSTER_FOLDER, 'PG_VERSION'), 'utf8').trim(),
    master_key_fingerprint: await neededKey(target, options),
    with_keys: keyFiles !== undefined,
    ...copied,
  }
  await writeDurably(join(to, MANIFEST_FILE), `${JSON.stringify(manifest, undefined, 1)}\n`)
  await syncFolder(to)
  return manifest
}

async function neededKey(target: SocketTarget, { keyFingerprint }: BackupOptions): Promise<string> {
  const service = { ...target, database: SERVICE_ROLE }
  const db = openDatabase({ target: service, maximumConnections: 1, applicationName: 'aex backup' })
  try {
    return await keyFingerprint(db)
  } finally {
    await db.end()
  }
}

/** One session holds it together: the slot keeps the log, start and stop mark what of it is needed. */
async function copyOnline(
  from: string,
  to: string,
  target: SocketTarget,
  progress: (line: string) => void,
): Promise<Copied> {
  const db = openDatabase({ target, maximumConnections: 1, applicationName: 'aex backup' })
  try {
    await db`set statement_timeout = 0`
    await db`select pg_create_physical_replication_slot('aex_backup_' || pg_backend_pid(), true, true)`
    const [start] = await db<{ segment: string }[]>`
      select pg_walfile_name(pg_backup_start('aex backup', true)) as segment`
    const copied = await copyCluster(from, to)
    progress(`Copied ${copied.files.length} files; adding the log of the meantime`)
    const [stop] = await db<{ segment: string; label: string }[]>`
      select pg_walfile_name(lsn) as segment, labelfile as label from pg_backup_stop(false)`
    if (!start || !stop) throw new Error('the server said nothing about the backup')
    const log = await copyLog(from, to, start.segment, stop.segment)
    await writeDurably(join(to, 'backup_label'), stop.label)
    return { ...copied, files: [...copied.files, ...log, { path: 'backup_label', ...describe(stop.label) }] }
  } finally {
    await db.end()
  }
}

/** The log from the backup's first to its last segment; pg_backup_stop has completed the last. */
async function copyLog(from: string, to: string, first: string, last: string): Promise<Copied['files']> {
  const segments = (await readdir(join(from, 'pg_wal')))
    .filter((name) => /^[0-9A-F]{24}$/u.test(name) && name >= first && name <= last)
    .toSorted()
  const files: Copied['files'][number][] = []
  for (const name of segments) {
    const path = `pg_wal/${name}`
    files.push({ path, ...(await copyHashed(join(from, path), join(to, path))) })
  }
  await syncFolder(join(to, 'pg_wal'))
  return files
}

async function writeKeys(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { mode: 0o700 })
  for (const [name, text] of Object.entries(files)) await writeDurably(join(folder, name), text)
}

async function writeDurably(file: string, text: string): Promise<void> {
  await using handle = await open(file, 'wx', 0o600)
  await handle.writeFile(text)
  await handle.sync()
}
