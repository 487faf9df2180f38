import { readFileSync } from 'node:fs'
import { CommandFailure } from '../failure.ts'

/** From the file that was named, or from the environment; undefined where the keys have none. */
export function passphraseFrom(file: string | undefined): string | undefined {
  const given = file === undefined ? process.env['AEX_AGENT_PASSPHRASE'] : read(file)
  if (given === '') throw new CommandFailure('The passphrase is empty.')
  return given
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/u, '')
  } catch {
    throw new CommandFailure(`The passphrase file ${file} cannot be read.`)
  }
}
