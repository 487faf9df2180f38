import { readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { until } from '@agent-exchange/testkit/until'
import { STALLS_FILE_VARIABLE } from './probe-variable.ts'
import type { Stalls } from './stall-recorder.ts'

const PROBE = fileURLToPath(new URL('stall-probe-main.ts', import.meta.url))

/** Settings for a process whose stalls are read. */
export function stallProbed(file: string): Record<string, string> {
  return { NODE_OPTIONS: `--import=${PROBE}`, [STALLS_FILE_VARIABLE]: file }
}

/** The stalls of a process since the last call. */
export async function stallsOf(pid: number, file: string): Promise<Stalls> {
  const path = `${file}.${pid}`
  rmSync(path, { force: true })
  process.kill(pid, 'SIGUSR2')
  return until(`process ${pid} writes its stalls`, () => JSON.parse(readFileSync(path, 'utf8')) as Stalls)
}
