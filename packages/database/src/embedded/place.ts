import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import { canEnter, serverUserFor, type ServerUser } from './server-user.ts'

const FOLDER = 'postgres'
const POINTER = 'postgres-location'
const PASSWORD = 'postgres-password'
/** Where root keeps the database of a data folder that the server's user cannot reach. */
const ELSEWHERE = '/var/lib/agent-exchange'

/** Where the embedded server's files are. */
export interface Place {
  /** Belongs to the server's user alone. */
  readonly folder: string
  /** PostgreSQL's own data folder. */
  readonly cluster: string
  readonly passwordFile: string
  /** Undefined: the user we run as. */
  readonly user: ServerUser | undefined
}

/** Whether a database was made for this data folder before. */
export function hasDatabase(dataDirectory: string): boolean {
  const folder = pointedFolder(dataDirectory) ?? join(dataDirectory, FOLDER)
  return existsSync(join(folder, 'cluster'))
}

/** Finds the place of an earlier start, or makes one. */
export function preparePlace(dataDirectory: string, log: (line: string) => void): Place {
  const folder = pointedFolder(dataDirectory) ?? chooseFolder(dataDirectory, log)
  const cluster = join(folder, 'cluster')
  const user = serverUserFor(cluster)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return {
    folder: realpathSync(folder),
    cluster: join(realpathSync(folder), 'cluster'),
    passwordFile: join(dataDirectory, PASSWORD),
    user,
  }
}

function pointedFolder(dataDirectory: string): string | undefined {
  const pointer = join(dataDirectory, POINTER)
  if (!existsSync(pointer)) return undefined
  const folder = readFileSync(pointer, 'utf8').trim()
  if (existsSync(folder)) return folder
  throw new DatabaseFailure(
    `${pointer} says that the database is in ${folder}, which is gone. ` +
      'Bring that folder back, or remove the pointer file and restore a backup.',
  )
}

function chooseFolder(dataDirectory: string, log: (line: string) => void): string {
  const inside = join(dataDirectory, FOLDER)
  const user = serverUserFor(join(inside, 'cluster'))
  if (canEnter(dataDirectory, user)) return inside
  if (existsSync(inside)) {
    throw new DatabaseFailure(
      `User ${user?.uid} can no longer reach the database in ${inside}. ` +
        'Let it through the folders above (chmod o+x), or set AEX_DATA_DIR to where the database is now.',
    )
  }
  const id = createHash('sha256').update(realpathSync(dataDirectory)).digest('hex').slice(0, 16)
  const folder = join(ELSEWHERE, id)
  makeElsewhere(dataDirectory, user)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(join(dataDirectory, POINTER), `${folder}\n`, { mode: 0o600 })
  log(
    `PostgreSQL cannot run as root, and user ${user?.uid} cannot reach ${dataDirectory}: ` +
      `the database is kept in ${folder}`,
  )
  return folder
}

function makeElsewhere(dataDirectory: string, user: ServerUser | undefined): void {
  try {
    mkdirSync(ELSEWHERE, { recursive: true, mode: 0o711 })
    if (canEnter(ELSEWHERE, user)) return
  } catch {
    // said below
  }
  throw new DatabaseFailure(
    `PostgreSQL cannot run as root, and user ${user?.uid} can reach neither ${dataDirectory} nor ${ELSEWHERE}. ` +
      'Set AEX_DATA_DIR to a folder whose parents everyone may enter.',
  )
}
