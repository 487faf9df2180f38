import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '@agent-exchange/testkit/until'
import type { MemberColumn } from '../area.ts'
import { FILE_VARIABLE, FLAGS_VARIABLE, type MemoryReading } from './probe-settings.ts'

const PROBE = fileURLToPath(new URL('memory-probe-main.ts', import.meta.url))
const MEGABYTE = 1_048_576
/** Flags that NODE_OPTIONS accepts. They set sizes that the probe could only change too late. */
const NODE_FLAGS = /^--max-(?:semi|old)-space-size=/u

export const MEMORY: readonly MemberColumn<MemoryReading>[] = [
  { member: 'resident', id: 'resident_mb', head: 'resident MB' },
  { member: 'heapUsed', id: 'heap_used_mb', head: 'heap in use' },
  { member: 'heapTotal', id: 'heap_mb', head: 'whole heap' },
  { member: 'young', id: 'young_mb', head: 'of it young' },
  { member: 'code', id: 'code_mb', head: 'of it code' },
  { member: 'external', id: 'external_mb', head: 'external' },
]

/** Settings for a process whose memory is read; with flags of V8. */
export function probed(file: string, flags: readonly string[] = []): Record<string, string> {
  const forNode = flags.filter((flag) => NODE_FLAGS.test(flag))
  const others = flags.filter((flag) => !NODE_FLAGS.test(flag))
  return {
    NODE_OPTIONS: [`--import=${PROBE}`, ...forNode].join(' '),
    [FLAGS_VARIABLE]: others.join(' '),
    [FILE_VARIABLE]: file,
  }
}

/** The memory of a process now, in MB. */
export async function memoryOf(pid: number, file: string): Promise<MemoryReading> {
  const path = `${file}.${pid}`
  rmSync(path, { force: true })
  process.kill(pid, 'SIGUSR2')
  const reading = await until(
    `process ${pid} says what its memory consists of`,
    () => JSON.parse(readFileSync(path, 'utf8')) as MemoryReading,
  )
  const megabytes = Object.entries(reading).map(([name, bytes]) => [name, Number(bytes) / MEGABYTE])
  return Object.fromEntries(megabytes) as MemoryReading
}
