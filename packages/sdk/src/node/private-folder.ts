import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ExchangeError } from '../errors.ts'

/** What the operating system says about a file or a folder. */
export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Who this process runs as. */
export interface Runner {
  readonly uid: number
}

const ROOT = 0
const GROUP_WRITES = 0o020
const OTHERS_WRITE = 0o002
/** On a folder: only the owner of an entry renames or removes it, as in /tmp. */
const STICKY = 0o1000

/**
 * Refuses a folder, or a file of it, that somebody else can change: whoever replaces pins or settings decides whom the
 * agent trusts. Where there are no owners and modes to look at, nothing is refused.
 */
export async function requirePrivateFolder(folder: string, names: readonly string[]): Promise<void> {
  const uid = process.getuid?.()
  if (uid === undefined) return
  const place = await realpath(folder).catch(() => undefined)
  // That it is not there is said by whoever reads it.
  if (place === undefined) return
  const own = (await readdir(place)).filter((entry) => names.some((name) => entry.startsWith(name)))
  for (const path of [place, ...own.map((entry) => join(place, entry))])
    await requireUnexposed(path, (ownership) => ownFault(ownership, { uid }))
  for (const path of foldersAbove(place))
    await requireUnexposed(path, (ownership) => parentFault(ownership, { uid }))
}

/** What is wrong with the folder itself or with a file in it. */
export function ownFault({ uid, mode }: Ownership, runner: Runner): string | undefined {
  if (uid !== runner.uid && uid !== ROOT) return foreign(uid)
  return (mode & (GROUP_WRITES | OTHERS_WRITE)) === 0
    ? undefined
    : 'Others can write it: run "chmod go-w" on it.'
}

/**
 * What is wrong with a folder above it: whoever writes there can put another folder in its place. A group that only
 * the user or root is in is no other (distributions give each user one, with the number of the user). Root works in
 * other users' folders on purpose.
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
  // A journal may be gone by now: another process of the agent has closed its file.
  const ownership = await stat(path).catch(() => undefined)
  const fault = ownership && faultOf(ownership)
  if (fault !== undefined)
    throw new ExchangeError('agent_folder_exposed', { what: `${path}: ${fault}`, details: { path } })
}
