import { readFileSync } from 'node:fs'
import { CommandFailure } from './failure.ts'

/** A certificate, an authority or a key, as PEM. */
export function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new CommandFailure(`${file} cannot be read. Give a PEM file.`)
  }
}
