import { accessSync, chmodSync, chownSync, constants, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import type { Place } from './place.ts'
import { canEnter } from './server-user.ts'

/** NUL-terminated in 108 bytes on Linux (unix(7)) and in 104 on macOS (unix(4)). */
const LONGEST_SOCKET_PATH = process.platform === 'linux' ? 107 : 103
const SHORT_PREFIX = 'aex-'

/** A folder for the socket that only the server's user (and root) can enter. */
export function makeSocketDirectory(place: Place, port: number): string {
  const inside = join(place.folder, 'run')
  if (fits(inside, port)) return own(inside, place)
  const parent = ['/run', tmpdir(), '/tmp'].find(
    (folder) => fits(join(folder, `${SHORT_PREFIX}123456`), port) && isUsable(folder, place),
  )
  if (parent === undefined) {
    throw new DatabaseFailure(
      `The path of ${place.folder} is too long for a socket, and no short temporary folder can be written. ` +
        'Set AEX_DATA_DIR to a shorter path.',
    )
  }
  return own(mkdtempSync(join(parent, SHORT_PREFIX)), place)
}

/** A short folder is made at each start; the one beside the database is kept. */
export function removeSocketDirectory(folder: string, place: Place): void {
  if (dirname(folder) !== place.folder && folder.includes(`/${SHORT_PREFIX}`)) {
    rmSync(folder, { recursive: true, force: true })
  }
}

function fits(folder: string, port: number): boolean {
  return Buffer.byteLength(`${folder}/.s.PGSQL.${port}.lock`) <= LONGEST_SOCKET_PATH
}

function isUsable(folder: string, { user }: Place): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return canEnter(folder, user)
  } catch {
    return false
  }
}

function own(folder: string, { user }: Place): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return folder
}
