import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** When a live process began, in ticks since boot: with its number it names one process for ever. */
export function processStart(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // proc_pid_stat(5): the name in parentheses may hold anything, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  return processStart(pid) !== undefined
}

/** Processes that work in this folder. A PostgreSQL server and its backends all work in their data folder. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number)
    .filter((pid) => workingFolder(pid) === folder && isAlive(pid))
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined // gone meanwhile, or another user's
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
