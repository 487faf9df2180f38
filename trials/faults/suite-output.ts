import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { lastLines } from '../shared/last-lines.ts'

const REPORTED_LINES = 80
const TOTALS = /^ℹ (?:tests|pass|fail) /u
/** Lines of `npm test` that say nothing about a failure. */
const QUIET = /^(?:✔|ℹ|\s*$)/u

export interface SuiteOutput {
  /** The counts of tests, passed and failed. */
  readonly totals: readonly string[]
  /**
   * Failures, and what the processes of the runner printed. A process that fails for a handle that was left open has
   * no failed test: only its standard error says why.
   */
  readonly said: readonly string[]
}

/** Bounded: the last lines of each kind. */
export function suiteOutput(child: ChildProcessByStdio<null, Readable, Readable>): SuiteOutput {
  const totals = lastLines(child.stdout, 3, (line) => TOTALS.test(line))
  const [shown, errors] = [child.stdout, child.stderr].map((stream) =>
    lastLines(stream, REPORTED_LINES, (line) => !QUIET.test(line)),
  )
  return {
    get totals() {
      return totals.map((line) => line.slice(2))
    },
    get said() {
      return [...(shown ?? []), ...(errors ?? [])]
    },
  }
}
