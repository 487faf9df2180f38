import { chownSync, mkdirSync } from 'node:fs'
import { PROGRAM_USER } from './child-program.ts'

/** A folder that belongs to the user of the programs. */
export function ownedFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o755 })
  if (PROGRAM_USER) chownSync(path, PROGRAM_USER.uid, PROGRAM_USER.gid)
  return path
}
