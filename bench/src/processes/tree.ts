import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessFacts {
  readonly parent: number
  readonly program: string
  /** CPU time, with that of children that were waited for. */
  readonly ticks: number
}

/** Every process of the machine, now. */
export function readProcesses(): Map<number, ProcessFacts> {
  const processes = new Map<number, ProcessFacts>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      // The program name is in parentheses and may contain any character.
      const end = text.lastIndexOf(')')
      const fields = text.slice(end + 2).split(' ')
      const [, parent = '0'] = fields
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
      processes.set(Number(name), {
        parent: Number(parent),
        program: text.slice(text.indexOf('(') + 1, end),
        ticks,
      })
    } catch {
      // It ended meanwhile.
    }
  }
  return processes
}

/** These processes and everything below them. */
export function below(processes: ReadonlyMap<number, ProcessFacts>, roots: readonly number[]): Set<number> {
  const wanted = new Set(roots)
  // A parent may have a higher pid than its child, so repeat until nothing is added.
  for (let size = 0; size !== wanted.size;) {
    size = wanted.size
    for (const [pid, { parent }] of processes) if (wanted.has(parent)) wanted.add(pid)
  }
  return wanted
}

/** Resident memory of a process and everything below it, without PostgreSQL. */
export function residentMegabytes(root: number): number {
  const processes = readProcesses()
  let kilobytes = 0
  for (const pid of below(processes, [root])) {
    if (processes.get(pid)?.program === 'postgres') continue
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    kilobytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
  }
  return kilobytes / 1_024
}

/** Sends a signal to a process and everything below it, except PostgreSQL. */
export function signalTree(root: number, signal: NodeJS.Signals): void {
  const processes = readProcesses()
  for (const pid of below(processes, [root])) {
    if (!processes.has(pid) || processes.get(pid)?.program === 'postgres') continue
    try {
      process.kill(pid, signal)
    } catch {
      // It ended meanwhile.
    }
  }
}
