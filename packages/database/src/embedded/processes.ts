import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** What the operating system knows about processes. */
export interface ProcessTable {
  /** When a live process started. Together with its pid this identifies one process, as pids are reused. */
  start(pid: number): string | undefined
  /** Processes that work in this folder. A PostgreSQL server and its backends all work in their data folder. */
  workingIn(folder: string): number[]
}

const LIST_LIMIT_MS = 10_000

/** Linux: proc_pid_stat(5), start times in ticks since boot. */
export const procfs: ProcessTable = {
  start(pid) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      // The name in parentheses may hold anything, so fields are counted after it.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return fields[0] === 'Z' ? undefined : fields[19]
    } catch {
      return undefined
    }
  },
  workingIn: (folder) =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/u.test(name))
      .map(Number)
      .filter((pid) => workingFolder(pid) === folder && procfs.start(pid) !== undefined),
}

/** macOS and other systems without /proc: `ps` and `lsof`, which macOS ships. */
export const processTools: ProcessTable = {
  start(pid) {
    const [state, ...started] = run('ps', ['-p', String(pid), '-o', 'stat=', '-o', 'lstart=']).split(/\s+/u)
    return !state || state.startsWith('Z') ? undefined : started.join('-')
  },
  workingIn: (folder) =>
    parseWorkingFolders(run('lsof', ['-a', '-d', 'cwd', '-c', 'postgres', '-F', 'pn']))
      .filter(({ path }) => path === folder)
      .map(({ pid }) => pid),
}

/** The field output of lsof(8): a line `p<pid>` for each process, then `n<path>` for each of its files. */
export function parseWorkingFolders(output: string): { pid: number; path: string }[] {
  const found: { pid: number; path: string }[] = []
  let pid = 0
  for (const line of output.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1))
    else if (line.startsWith('n')) found.push({ pid, path: line.slice(1) })
  }
  return found
}

const table = process.platform === 'linux' ? procfs : processTools

export const processStart = table.start
export const processesIn = table.workingIn

export function isAlive(pid: number): boolean {
  return processStart(pid) !== undefined
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return undefined // it ended meanwhile, or belongs to another user
  }
}

/** Neither program succeeds where it finds nothing, so the exit status says nothing. */
function run(program: string, args: readonly string[]): string {
  const { error, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
    timeout: LIST_LIMIT_MS,
  })
  if (error) throw new Error(`${program} is needed to find PostgreSQL's processes: ${error.message}`)
  return stdout.trim()
}
