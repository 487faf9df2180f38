import { existsSync, readFileSync } from 'node:fs'
import { below, readProcesses } from './tree.ts'

/** Linux reports CPU time in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100

export interface CpuReading {
  /** Ticks of all cores, idle ones included. */
  readonly all: number
  /** Ticks in which a process ran, including steal time. */
  readonly busy: number
  /** Ticks of this process and everything below it. */
  readonly own: number
}

/** Undefined without /proc. */
export function readCpu(): CpuReading | undefined {
  if (!existsSync('/proc/stat')) return undefined
  const line = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? ''
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = line
    .split(/\s+/)
    .slice(1)
    .map(Number)
  // Interrupts are not counted, because our own packets and disk writes cause most of them.
  const busy = user + nice + system + steal
  return { all: busy + idle + wait + irq + soft, busy, own: ticksOf([process.pid]) }
}

/** The share of the machine that other processes used between two readings. */
export function foreignShare(from: CpuReading, to: CpuReading): number {
  const all = to.all - from.all
  const foreign = to.busy - from.busy - (to.own - from.own)
  return all <= 0 ? 0 : Math.max(0, foreign / all)
}

/** CPU seconds of processes and everything below them, so far. */
export function cpuSeconds(roots: readonly number[]): number {
  return ticksOf(roots) / TICKS_PER_SECOND
}

/** Starts counting the CPU seconds of groups of processes; each call of the result returns those used since then. */
export function cpuMeter(groups: readonly (readonly number[])[]): () => number[] {
  const before = groups.map(cpuSeconds)
  return () => groups.map((roots, i) => cpuSeconds(roots) - (before[i] ?? 0))
}

function ticksOf(roots: readonly number[]): number {
  const processes = readProcesses()
  let ticks = 0
  for (const pid of below(processes, roots)) ticks += processes.get(pid)?.ticks ?? 0
  return ticks
}
