import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findInstalledPostgres } from '../shared/installed-postgres.ts'

/** Paths of the programs of a highly available database. */
export interface Programs {
  /** The folder with `postgres`. */
  readonly postgresBin: string
  readonly patroni: string
  readonly etcd: string
  readonly haproxy: string
  readonly pgbouncer: string
}

/** Debian installs daemons into folders that are not on the PATH of every user. */
const DAEMON_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** Finds all programs, or says which is missing. */
export async function findPrograms(): Promise<Programs | { readonly why: string }> {
  const postgres = await findInstalledPostgres()
  if (!postgres) return { why: 'no PostgreSQL is installed' }
  const found = { patroni: '', etcd: '', haproxy: '', pgbouncer: '' }
  for (const name of Object.keys(found) as (keyof typeof found)[]) {
    const path = pathOf(name)
    if (path === undefined) return { why: `${name} is not installed` }
    found[name] = path
  }
  return { ...found, postgresBin: postgres.bin }
}

/** One line per program. */
export function versionsOf({ postgresBin, patroni, etcd, haproxy, pgbouncer }: Programs): string[] {
  const commands = [
    [join(postgresBin, 'postgres'), '--version'],
    [patroni, '--version'],
    [etcd, '--version'],
    [haproxy, '-v'],
    [pgbouncer, '--version'],
  ] as const
  return commands.map(([program, option]) => {
    const { stdout } = spawnSync(program, [option], { encoding: 'utf8' })
    return (stdout ?? '').split('\n', 1)[0] ?? program
  })
}

function pathOf(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...DAEMON_FOLDERS]
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
