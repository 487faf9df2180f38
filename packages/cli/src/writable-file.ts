import { closeSync, lstatSync, openSync, rmSync } from 'node:fs'
import { CommandFailure } from './failure.ts'

/** Called before work whose result goes to this file. */
export function requireWritable(file: string, what: string): void {
  const isNew = lstatSync(file, { throwIfNoEntry: false }) === undefined
  try {
    closeSync(openSync(file, 'a'))
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new CommandFailure(`${what} cannot be written to ${file}: ${reason}`)
  }
  if (isNew) rmSync(file)
}
