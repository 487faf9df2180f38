import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const AEX = fileURLToPath(new URL('../bin/aex.js', import.meta.url))

/** Runs `aex serve` in a process of its own; a test that fails takes it along. */
export async function serveProcess(
  env: Record<string, string>,
  { openFiles }: { readonly openFiles?: number } = {},
) {
  const command = openFiles === undefined ? 'exec "$0" "$@"' : `ulimit -n ${openFiles} && exec "$0" "$@"`
  const child = spawn('sh', ['-c', command, process.execPath, AEX, 'serve'], {
    env: { ...process.env, ...env },
    // A process group of its own, as a terminal or a service manager makes one.
    detached: true,
  })
  const ended = once(child, 'close')
  const output = { log: '', said: '' }
  child.stdout.setEncoding('utf8').on('data', (part: string) => (output.log += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (output.said += part))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    await ended
    return child.exitCode
  }
  for (let tries = 0; !output.said.includes('is running'); tries++) {
    if (tries > 1_200 || child.exitCode !== null) {
      await stop('SIGKILL')
      throw new Error(`not ready: ${output.said}${output.log}`)
    }
    await sleep(50)
  }
  return {
    pid: child.pid ?? 0,
    output,
    stop,
    exitCode: async () => {
      await ended
      return child.exitCode
    },
    [Symbol.asyncDispose]: () => stop().then(() => undefined),
  }
}
