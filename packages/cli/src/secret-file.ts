import { readFileSync } from 'node:fs'
import { CommandFailure } from './failure.ts'

/** A secret from the file that was named, or else from the environment; undefined where neither is there. */
export function secretFrom(name: string, file: string | undefined, variable: string): string | undefined {
  if (file !== undefined) return secretFromFile(name, file)
  const given = process.env[variable]
  if (given === '') throw new CommandFailure(`The ${name} is empty.`)
  return given
}

/** A secret from a file alone. */
export function secretFromFile(name: string, file: string): string {
  const given = read(name, file)
  if (given === '') throw new CommandFailure(`The ${name} is empty.`)
  return given
}

function read(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/u, '')
  } catch {
    throw new CommandFailure(`The ${name} file ${file} cannot be read.`)
  }
}
