import { spawn } from 'node:child_process'
import { once } from 'node:events'

const SHOWN_CHARACTERS = 2_000
const groups = new Set<number>()
process.once('exit', () => groups.forEach(killGroup))

export interface CommandOptions {
  readonly cwd: string
  readonly limitMs: number
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Ends the command and everything that it has started. */
  readonly signal?: AbortSignal
}

/** Runs a command in its own process group and returns its output. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, limitMs, env = process.env, signal }: CommandOptions,
): Promise<string> {
  const stop = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])])
  stop.throwIfAborted()
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const group = child.pid
  if (group === undefined) throw await failedSpawn(child)
  groups.add(group)
  let [printed, complained] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()))
  const onAbort = () => killGroup(group)
  stop.addEventListener('abort', onAbort, { once: true })
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    if (code === 0) return printed
    const why = stop.aborted ? 'was stopped' : `ended with ${code}`
    throw new Error(`${command} ${args.join(' ')} ${why}:\n${complained.slice(-SHOWN_CHARACTERS)}`)
  } finally {
    stop.removeEventListener('abort', onAbort)
    groups.delete(group)
  }
}

async function failedSpawn(child: ReturnType<typeof spawn>): Promise<Error> {
  const [error] = (await once(child, 'error')) as [Error]
  return error
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
