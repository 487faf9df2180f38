import { readFileSync } from 'node:fs'
import type { InvalidSetting } from './config-error.ts'

/** The environment of a process. An empty value counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>

export function valueOf(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

/** Reads settings and collects their errors. */
export interface SettingsReader<Name extends string = string> {
  readonly value: (name: Name) => string | undefined
  readonly reject: (name: Name, message: string) => undefined
  /** Runs the check if the variable is set, and collects a thrown `SettingError`. */
  readonly checked: <T>(name: Name, check: (value: string) => T) => T | undefined
  readonly wrong: readonly InvalidSetting[]
}

/** Thrown by a check. The message says what to set. */
export class SettingError extends Error {}

/** `removed`: variables of earlier releases. Whoever set one relies on it, so it is not ignored. */
export function settingsReader<Name extends string>(
  env: Environment,
  removed: Readonly<Record<string, string>> = {},
): SettingsReader<Name> {
  const wrong: InvalidSetting[] = Object.entries(removed)
    .filter(([variable]) => env[variable] !== undefined)
    .map(([variable, message]) => ({ variable, message }))
  const value = (name: Name) => valueOf(env, name)
  const reject = (variable: Name, message: string) => void wrong.push({ variable, message })
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
