import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

export interface ListedProcess {
  readonly pid: number
  readonly parent: number
  readonly command: string
}

/** The running processes of this machine, from /proc if available, otherwise from ps(1). */
export function listProcesses(): ListedProcess[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs()
}

/** Empty once the process has ended, also while it is a zombie. */
export function commandOf(pid: number): string {
  return listProcesses().find((each) => each.pid === pid)?.command ?? ''
}

function fromProc(): ListedProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/u.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return command === '' ? [] : [{ pid: Number(name), parent: Number(parent), command }]
    } catch {
      return [] // the process ended in the meantime
    }
  })
}

export function fromPs(): ListedProcess[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
  return stdout.split('\n').flatMap((line) => {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/u.exec(line) ?? []
    if (command === undefined || state?.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), command }]
  })
}
