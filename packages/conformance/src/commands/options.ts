import type { parseArgs } from 'node:util'

export const OPTIONS = {
  config: { type: 'string' },
  only: { type: 'string', multiple: true },
  json: { type: 'string' },
  junit: { type: 'string' },
  html: { type: 'string' },
  badge: { type: 'string' },
  state: { type: 'string' },
  seed: { type: 'string' },
  concurrency: { type: 'string' },
  pace: { type: 'string' },
  timeout: { type: 'string' },
  listen: { type: 'string' },
  vectors: { type: 'string' },
  policy: { type: 'string' },
  checkpoint: { type: 'string' },
  'token-file': { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export type OptionName = keyof typeof OPTIONS
export type Values = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>
>['values']

/** Options of the report, which every judge takes. */
const COMMON: readonly OptionName[] = ['only', 'json', 'junit', 'html', 'badge', 'list', 'help']

/** An option without an effect would mislead, so it is refused. */
export function requireTaken(subject: string, taken: readonly OptionName[], values: Values): void {
  const given = Object.keys(values) as OptionName[]
  const unused = given.find((name) => ![...COMMON, ...taken].includes(name))
  if (unused !== undefined) throw new Error(`--${unused} has no effect on aex-conformance ${subject}`)
}

export function wholeNumber(text: string, option: string): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`${option} needs a whole number above 0, not ${text}`)
  return value
}
