import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ExchangeError } from '../errors.ts'

/** Owner and mode of a file or folder. */
export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** The user of this process. */
export interface Runner {
  readonly uid: number
}

const ROOT = 0
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** Sticky bit: only the owner of an entry may rename or remove it, as in /tmp. */
const STICKY = 0o1000

/**
 * Refuses a folder or file that other users can change: whoever replaces pins or settings decides whom the agent
 * trusts. Does nothing on systems without owners and modes.
 */
export async function requirePrivateFolder(folder: string, names: readonly string[]): Promise<void> {
  const uid = process.getuid?.()
  if (uid === undefined) return
  const place = await realpath(folder).catch(() => undefined)
  // The reader reports a missing file.
  if (place === undefined) return
  const own = (await readdir(place)).filter((entry) => names.some((name) => entry.startsWith(name)))
  for (const path of [place, ...own.map((entry) => join(place, entry))])
    await requireUnexposed(path, (ownership) => ownFault(ownership, { uid }))
  for (const path of foldersAbove(place))
    await requireUnexposed(path, (ownership) => parentFault(ownership, { uid }))
}

/** Why other users can change the folder or a file in it. */
export function ownFault({ uid, mode }: Ownership, runner: Runner): string | undefined {
  if (uid !== runner.uid && uid !== ROOT) return foreign(uid)
  return (mode & (GROUP_WRITES | OTHERS_WRITE)) === 0
    ? undefined
    : 'Others can write it: run "chmod go-w" on it.'
}

/**
 * Why other users can change a parent folder: who writes there can replace the folder. A private group (same number as
 * the user, as distributions create it) is no other user. Root works in other users' folders on purpose.
 */
export function parentFault({ uid, gid, mode }: Ownership, runner: Runner): string | undefined {
  if (![runner.uid, ROOT].includes(uid) && runner.uid !== ROOT) return foreign(uid)
  if ((mode & STICKY) !== 0) return undefined
  const isOwnGroup = gid === ROOT || gid === runner.uid
  const exposing = isOwnGroup ? OTHERS_WRITE : GROUP_WRITES | OTHERS_WRITE
  return (mode & exposing) === 0
    ? undefined
    : 'Others can write this folder above it: run "chmod go-w" on it, or keep the agent elsewhere.'
}

function foreign(uid: number): string {
  return `It belongs to another user (${uid}): change its owner to the user that runs the agent, or keep the agent elsewhere.`
}

function* foldersAbove(path: string): Generator<string> {
  for (let at = path; dirname(at) !== at;) {
    at = dirname(at)
    yield at
  }
}

async function requireUnexposed(
  path: string,
  faultOf: (ownership: Ownership) => string | undefined,
): Promise<void> {
  // Another process of the agent may have removed a journal meanwhile.
  const ownership = await stat(path).catch(() => undefined)
  const fault = ownership && faultOf(ownership)
  if (fault !== undefined)
    throw new ExchangeError('agent_folder_exposed', { what: `${path}: ${fault}`, details: { path } })
}
