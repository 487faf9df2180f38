import { execFile } from 'node:child_process'

/** Commands of the configuration that do what only an operator can. */
export const HOOK_NAMES = [
  'approve_connector',
  'publish_skill',
  'replay_delivery',
  'rotate_webhook_key',
  'revoke_webhook_key',
  'advance_clock',
  'restart',
] as const

export type HookName = (typeof HOOK_NAMES)[number]

export type Hook = (values: Readonly<Record<string, string>>) => Promise<void>
export type Hooks = Partial<Readonly<Record<HookName, Hook>>>

const TIME_LIMIT_MS = 60_000

/** A hook from the words of a command; `{name}` in a word is replaced by the value of that name. */
export function commandHook(hook: HookName, [program = '', ...words]: readonly string[]): Hook {
  return (values) => {
    const filled = words.map((word) =>
      word.replaceAll(/\{(\w+)\}/gu, (_, name: string) => values[name] ?? ''),
    )
    return new Promise((resolve, reject) => {
      execFile(program, filled, { timeout: TIME_LIMIT_MS }, (error) => {
        // Its words and its output may hold a password, and a report is published.
        if (error) reject(new Error(`the hook ${hook} ${endOf(error)}`))
        else resolve()
      })
    })
  }
}

function endOf({ code, killed }: { code?: unknown; killed?: boolean | undefined }): string {
  if (killed) return `did not end within ${TIME_LIMIT_MS / 1_000} s`
  return typeof code === 'number' ? `ended with exit code ${code}` : `could not be run (${String(code)})`
}
