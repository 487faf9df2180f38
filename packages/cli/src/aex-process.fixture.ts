import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const AEX = fileURLToPath(new URL('../bin/aex.js', import.meta.url))

/** Runs `aex` in a child process. */
export async function runAex(
  args: readonly string[],
  options: { input?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(process.execPath, [AEX, ...args], {
    // On a terminal, the test runner sets FORCE_COLOR.
    env: { ...process.env, FORCE_COLOR: undefined, NO_COLOR: '1', AEX_PROFILE: '', ...options.env },
  })
  child.stdin.end(options.input ?? '')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: child.exitCode, stdout, stderr }
}
