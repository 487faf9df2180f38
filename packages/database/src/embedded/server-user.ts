import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** nobody: needs no account, and owns nothing else of ours. */
const UNPRIVILEGED: ServerUser = { uid: 65_534, gid: 65_534 }

/** PostgreSQL refuses to run as root. Undefined: it runs as we do. */
export function serverUserFor(cluster: string): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  // A folder that some user's own server made stays that user's.
  const owner = statSync(cluster, { throwIfNoEntry: false })
  return owner !== undefined && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : UNPRIVILEGED
}

/** Whether the user gets into the folder, by the modes of it and of every folder above it. */
export function canEnter(folder: string, user: ServerUser | undefined): boolean {
  if (user === undefined) return true
  for (let path = realpathSync(folder); ; path = dirname(path)) {
    const { mode, uid, gid } = statSync(path)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (path === dirname(path)) return true
  }
}
