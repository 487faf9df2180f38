import { readFileSync } from 'node:fs'
import type { InvalidSetting } from './config-error.ts'
import { valueOf, type Environment, type VariableName } from './variables.ts'

/** Reads settings and collects their errors. */
export interface SettingsReader {
  readonly value: (name: VariableName) => string | undefined
  readonly reject: (name: VariableName, message: string) => undefined
  /** Runs the check if the variable is set, and collects a thrown `SettingError`. */
  readonly checked: <T>(name: VariableName, check: (value: string) => T) => T | undefined
  readonly wrong: readonly InvalidSetting[]
}

/** Thrown by a check. The message says what to set. */
export class SettingError extends Error {}

/** Of earlier releases. Whoever set one relies on it, so it is not ignored. */
const REMOVED_VARIABLES: Readonly<Record<string, string>> = {
  AEX_WAL_ARCHIVE:
    'The embedded database no longer archives its log. Unset it, or use a PostgreSQL of your own with archive_command.',
}

export function settingsReader(env: Environment): SettingsReader {
  const wrong: InvalidSetting[] = Object.entries(REMOVED_VARIABLES)
    .filter(([variable]) => env[variable] !== undefined)
    .map(([variable, message]) => ({ variable, message }))
  const value = (name: VariableName) => valueOf(env, name)
  const reject = (variable: VariableName, message: string) => void wrong.push({ variable, message })
  return {
    value,
    reject,
    checked: (name, check) => {
      const given = value(name)
      if (given === undefined) return undefined
      try {
        return check(given)
      } catch (error) {
        if (!(error instanceof SettingError)) throw error
        return reject(name, error.message)
      }
    },
    wrong,
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
}

/** Reads the file that a variable names. */
export function readNamedFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new SettingError(`The file ${path} cannot be read: ${REASONS[code] ?? 'it could not be opened'}.`)
  }
}
