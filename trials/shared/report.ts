/** Collects and prints the results of the trials. */
export interface Report {
  /** Runs a step and reports its return value. `Skipped` does not count as a failure. */
  step(tool: string, what: string, attempt: () => Promise<string>): Promise<boolean>
  /** Prints all results, then a line `skipped: WHY` for each skipped step, which .ci/run looks for. */
  print(): void
  failed(): boolean
}

/** Thrown if a tool is not available. */
export class Skipped extends Error {}

const SIGN = { passed: '✔', failed: '✖', skipped: '–' } as const

interface Row {
  readonly outcome: keyof typeof SIGN
  readonly tool: string
  readonly what: string
  readonly seconds: number
  readonly finding: string
}

export function createReport(): Report {
  const rows: Row[] = []
  const add = (row: Row, long: string) => {
    rows.push(row)
    console.log(lineOf(row))
    if (row.outcome === 'failed') console.log(`\n${long.trimEnd()}\n`)
  }
  return {
    async step(tool, what, attempt) {
      const started = performance.now()
      const row = (outcome: Row['outcome'], finding: string): Row => {
        const seconds = (performance.now() - started) / 1_000
        return { outcome, tool, what, seconds, finding: finding.split('\n', 1)[0] ?? '' }
      }
      try {
        add(row('passed', await attempt()), '')
        return true
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error)
        const isSkip = error instanceof Skipped
        add(row(isSkip ? 'skipped' : 'failed', isSkip ? `skipped: ${message}` : message), message)
        return false
      }
    },
    print() {
      const skips = rows.filter(({ outcome }) => outcome === 'skipped').map(({ finding }) => finding)
      console.log(`\n${[...rows.map(lineOf), ...skips].join('\n')}`)
    },
    failed: () => rows.some(({ outcome }) => outcome === 'failed'),
  }
}

function lineOf({ outcome, tool, what, seconds, finding }: Row): string {
  const time = `${seconds.toFixed(1).padStart(6)} s`
  return `${SIGN[outcome]} ${tool.padEnd(18)} ${what.padEnd(44)} ${time}  ${finding}`
}
