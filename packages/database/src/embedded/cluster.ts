import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { DatabaseFailure } from '../database-errors.ts'
import type { Place } from './place.ts'
import type { Runtime } from './runtime.ts'

/** The server's own superuser; the service itself works as another role. */
export const SUPERUSER = 'aex'
const PROGRAM_LIMIT_MS = 120_000

/** Makes the data folder at the first start and checks it at every other. Returns the superuser's password. */
export async function prepareCluster(
  place: Place,
  runtime: Runtime,
  options: { readonly log: (line: string) => void; readonly durable: boolean },
): Promise<string> {
  if (!existsSync(place.cluster)) {
    options.log(`Making a PostgreSQL ${runtime.version} database in ${place.cluster}`)
    const password = readPassword(place) ?? keepPassword(place, newPassword())
    await initialize(place, runtime, password, options.durable)
    return password
  }
  checkOwner(place)
  checkVersion(place.cluster, runtime)
  const password = readPassword(place)
  if (password !== undefined) return password
  // After a restore, or where the file was lost: whoever owns the files may set another one.
  const next = newPassword()
  await runSingleUser(place, runtime, `alter role ${SUPERUSER} password '${next}'`)
  return keepPassword(place, next)
}

/** Complete or not there: it gets its name when initdb has finished. */
async function initialize(place: Place, runtime: Runtime, password: string, durable: boolean): Promise<void> {
  const draft = `${place.cluster}.new`
  rmSync(draft, { recursive: true, force: true })
  const passwordFile = join(place.folder, 'initial-password')
  rmSync(passwordFile, { force: true })
  writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' })
  if (place.user) chownSync(passwordFile, place.user.uid, place.user.gid)
  try {
    const fixed = `-U ${SUPERUSER} -E UTF8 --no-locale --no-instructions -A scram-sha-256`.split(' ')
    const given = ['-D', draft, `--pwfile=${passwordFile}`, ...(durable ? [] : ['--no-sync'])]
    await run(place, join(runtime.bin, 'initdb'), [...fixed, ...given])
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(draft, place.cluster)
}

function checkOwner({ cluster }: Place): void {
  const { uid } = statSync(cluster)
  const own = process.getuid?.()
  if (own !== 0 && uid !== own) {
    throw new DatabaseFailure(
      `The database in ${cluster} belongs to user ${uid}, and this process runs as user ${own}. ` +
        'Start it as root or as that user.',
    )
  }
}

/** PostgreSQL reads only data of its own major version. */
export function checkVersion(cluster: string, { major, version }: Runtime): void {
  const file = join(cluster, 'PG_VERSION')
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'an unknown version'
  if (found === major) return
  throw new DatabaseFailure(
    `The database in ${cluster} was made by PostgreSQL ${found}, and the embedded one is ${version}. ` +
      'Use the release of the service that made it, or move the data over with pg_dump and pg_restore ' +
      `of PostgreSQL ${found}.`,
  )
}

function readPassword({ passwordFile }: Place): string | undefined {
  return existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8').trim() : undefined
}

/** In base64url, so that it may stand in a statement as it is. */
function newPassword(): string {
  return randomBytes(32).toString('base64url')
}

function keepPassword({ passwordFile }: Place, password: string): string {
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' })
  return password
}

async function runSingleUser(place: Place, runtime: Runtime, statement: string): Promise<void> {
  const args = ['--single', '-D', place.cluster, '-c', 'log_min_error_statement=panic', 'postgres']
  await run(place, join(runtime.bin, 'postgres'), args, `${statement}\n`)
}

async function run(place: Place, program: string, args: readonly string[], input = ''): Promise<void> {
  const child = spawn(program, args, {
    ...place.user,
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    timeout: PROGRAM_LIMIT_MS,
  })
  child.stdin.end(input)
  const [output, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  if (child.exitCode === 0) return
  const last = `${output}\n${complaint}`.trim().split('\n').slice(-5).join('\n')
  throw new DatabaseFailure(`PostgreSQL could not prepare ${place.cluster}:\n${last}`)
}
