import {
  ConfigError,
  hidePassword,
  valueOf,
  type Environment,
  type InvalidSetting,
} from '@agent-exchange/server/settings'
import { readConfig } from './read-config.ts'
import { VARIABLES, type Variable } from './variables.ts'

/** A row of `aex config`. */
export interface ConfigRow {
  readonly name: string
  readonly meaning: string
  readonly default: string
  /** The effective value, with secrets hidden. */
  readonly effective: string
  readonly set: boolean
  /** The errors of this setting, one sentence each. */
  readonly wrong: readonly string[]
}

const URLS_WITH_PASSWORD = new Set([
  'DATABASE_URL',
  'AEX_DATABASE_DIRECT_URL',
  'AEX_DATABASE_READ_URL',
  'AEX_SMTP_URL',
])

/** Every variable with its meaning and effective value. Invalid settings are reported, not thrown. */
export function describeConfig(env: Environment): ConfigRow[] {
  const { publicUrl, wrong } = check(env)
  return VARIABLES.map((variable: Variable) => {
    const given = valueOf(env, variable.name)
    const unset = variable.name === 'AEX_PUBLIC_URL' && publicUrl ? publicUrl : variable.default
    return {
      name: variable.name,
      meaning: variable.meaning,
      default: variable.default,
      effective: given === undefined ? unset : shown(variable, given),
      set: given !== undefined,
      wrong: wrong.filter((each) => each.variable === variable.name).map(({ message }) => message),
    }
  })
}

function shown({ name, secret }: Variable, value: string): string {
  if (secret) return '(hidden)'
  return URLS_WITH_PASSWORD.has(name) ? hidePassword(value) : value
}

function check(env: Environment): { publicUrl?: string; wrong: readonly InvalidSetting[] } {
  try {
    return { publicUrl: readConfig(env).publicUrl, wrong: [] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { wrong: error.settings }
  }
}
