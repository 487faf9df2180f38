import { SettingError } from './settings-reader.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export function parseFlag(text: string): boolean {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw new SettingError('Use true or false.')
}

export function oneOf<Value extends string>(values: readonly Value[]): (text: string) => Value {
  return (text) => {
    const value = values.find((each) => each === text)
    if (value === undefined) throw new SettingError(`Use one of ${values.join(', ')}.`)
    return value
  }
}
