import { closeSync, fchmodSync, fstatSync, openSync, writeFileSync } from 'node:fs'
import { CommandFailure } from '../failure.ts'

const OWNER_ONLY = 0o600

/**
 * Writes plaintext to a file that only its owner can read, also if an existing file was readable by others. With
 * `fresh`, an existing file is an error.
 */
export function writeContent(file: string, text: string, { fresh = false } = {}): void {
  try {
    const descriptor = openSync(file, fresh ? 'wx' : 'w', OWNER_ONLY)
    try {
      // A device such as /dev/stdout keeps its mode.
      if (fstatSync(descriptor).isFile()) fchmodSync(descriptor, OWNER_ONLY)
      writeFileSync(descriptor, `${text}\n`)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST'
    throw new CommandFailure(
      exists
        ? `${file} exists already. Choose another name with --out.`
        : `${file} cannot be written. Check that its folder is there and that you may write to it.`,
    )
  }
}
