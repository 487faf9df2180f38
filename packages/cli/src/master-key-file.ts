import { randomBytes } from 'node:crypto'
import { chownSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFailure } from './failure.ts'

const MASTER_KEY_BYTES = 32

export function newMasterKey(): Uint8Array {
  return randomBytes(MASTER_KEY_BYTES)
}

/** Replaces the file at once: a reader sees the former keys or these, and so does a start after a power failure. */
export function writeMasterKeyFile(file: string, keys: readonly Uint8Array[]): void {
  const draft = `${file}.${process.pid}`
  try {
    const { uid, gid } = statSync(file)
    const opened = openSync(draft, 'w', 0o600)
    writeSync(opened, keys.map((key) => `${Buffer.from(key).toString('base64url')}\n`).join(''))
    fsyncSync(opened)
    closeSync(opened)
    if (process.getuid?.() === 0) chownSync(draft, uid, gid)
    renameSync(draft, file)
    const folder = openSync(dirname(file), 'r')
    fsyncSync(folder)
    closeSync(folder)
  } catch (error) {
    rmSync(draft, { force: true })
    const reason = error instanceof Error ? error.message : 'unknown failure'
    throw new CommandFailure(`The key file ${file} cannot be written: ${reason}.`)
  }
}
