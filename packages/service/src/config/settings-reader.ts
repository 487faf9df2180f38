import { readFileSync } from 'node:fs'
import type { WrongSetting } from './config-error.ts'
import { valueOf, type Environment, type VariableName } from './variables.ts'

/** Reads settings one by one and collects what is wrong with them. */
export interface SettingsReader {
  readonly value: (name: VariableName) => string | undefined
  readonly refuse: (name: VariableName, message: string) => undefined
  /** Runs the check where the variable is set; a thrown `Refusal` is collected. */
  readonly checked: <T>(name: VariableName, check: (value: string) => T) => T | undefined
  readonly wrong: readonly WrongSetting[]
}

/** Thrown by a check: the sentence says what to set. */
export class Refusal extends Error {}

export function settingsReader(env: Environment): SettingsReader {
  const wrong: WrongSetting[] = []
  const value = (name: VariableName) => valueOf(env, name)
  const refuse = (variable: VariableName, message: string) => void wrong.push({ variable, message })
  return {
    value,
    refuse,
    checked: (name, check) => {
      const given = value(name)
      if (given === undefined) return undefined
      try {
        return check(given)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return refuse(name, error.message)
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

/** Text of a file that a variable names. */
export function readNamedFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    throw new Refusal(`The file ${path} cannot be read: ${REASONS[code] ?? 'it could not be opened'}.`)
  }
}
