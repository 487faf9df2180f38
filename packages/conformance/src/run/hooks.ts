import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Commands of the configuration that do what only an operator can. */
export const HOOK_NAMES = [
  'approve_connector',
  'publish_skill',
  'replay_delivery',
  'rotate_webhook_key',
  'advance_clock',
  'restart',
] as const

export type HookName = (typeof HOOK_NAMES)[number]

export type Hook = (values: Readonly<Record<string, string>>) => Promise<void>
export type Hooks = Partial<Readonly<Record<HookName, Hook>>>

const TIME_LIMIT_MS = 60_000

/** A hook from the words of a command; `{name}` in a word is replaced by the value of that name. */
export function commandHook([program = '', ...words]: readonly string[]): Hook {
  return async (values) => {
    const filled = words.map((word) =>
      word.replaceAll(/\{(\w+)\}/gu, (_, name: string) => values[name] ?? ''),
    )
    await promisify(execFile)(program, filled, { timeout: TIME_LIMIT_MS })
  }
}
