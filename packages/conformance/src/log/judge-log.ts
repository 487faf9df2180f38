import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { LogPolicy } from '@agent-exchange/log'
import type { Check, CheckResult } from '../run/check.ts'
import { type CheckScope, runChecks } from '../run/run-checks.ts'
import { observe } from '../wire/observed.ts'
import { toAnswer } from '../wire/wire.ts'
import { LOG_CHECKS } from './checks.ts'
import { type LogContext, readCheckpoint } from './log-context.ts'
import type { ReadLog } from './read-log.ts'

export interface JudgeLogOptions {
  readonly read: ReadLog
  readonly policy: LogPolicy
  /** A checkpoint of an earlier run, which the log must continue. */
  readonly earlier?: string
  readonly seed: string
  readonly onResult?: (result: CheckResult) => void
  /** How long the kit waits for the log to grow. */
  readonly patienceMs?: number
}

const PATIENCE_MS = 30_000
const POLL_MS = 500

/** The results, and the checkpoint that a later run can compare with. Throws if there is no checkpoint. */
export async function judgeLog(
  options: JudgeLogOptions,
): Promise<{ results: CheckResult[]; checkpoint: string }> {
  const { read, policy, earlier, seed, onResult, patienceMs = PATIENCE_MS } = options
  const checkpoint = await readCheckpoint({ read })
  const contextOf = ({ name }: Check<LogContext>, { record }: CheckScope): LogContext => {
    const until = performance.now() + patienceMs
    return {
      policy,
      first: checkpoint,
      ...(earlier !== undefined && { earlier }),
      async read(path) {
        const answer = await read(path)
        const text = `${answer.bytes.length} bytes`
        const request = { method: 'GET', url: path, headers: {} }
        record(observe(toAnswer(request, { ...answer, headers: {}, text })))
        return answer
      },
      sample: (limit, count) => sampleOf(`${seed} ${name}`, limit, count),
      async waitForGrowth() {
        await pause(POLL_MS)
        return performance.now() < until
      },
    }
  }
  const results = await runChecks({ checks: LOG_CHECKS, contextOf, ...(onResult && { onResult }) })
  return { results, checkpoint }
}

function sampleOf(seed: string, limit: number, count: number): number[] {
  if (limit <= count) return Array.from({ length: limit }, (_, number) => number)
  const chosen = Array.from({ length: count - 2 }, (_, number) => {
    const hash = createHash('sha256').update(`${seed}\0${number}`).digest()
    return hash.readUIntBE(0, 6) % limit
  })
  return [...new Set([0, limit - 1, ...chosen])]
}
