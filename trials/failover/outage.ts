/** Successful answers of one API process, as times in milliseconds. */
export type Answers = readonly number[]

/** The longest time without an answer between two moments, in seconds. */
export function longestGapSeconds(answers: Answers, from: number, to: number): number {
  const times = [from, ...answers.filter((time) => time > from && time < to), to].toSorted((a, b) => a - b)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  return Math.max(0, ...gaps) / 1_000
}

/** What one fault did. */
export interface Outage {
  readonly fault: string
  /** Longest time in which no client got an answer from any API process. */
  readonly anySeconds: number
  /** The same for each API process. */
  readonly eachSeconds: readonly number[]
  /** Requests that failed and were retried. */
  readonly retried: number
}

export function outageOf(
  fault: string,
  answers: readonly Answers[],
  window: { readonly from: number; readonly to: number; readonly retried: number },
): Outage {
  const gapOf = (each: Answers) => longestGapSeconds(each, window.from, window.to)
  return {
    fault,
    anySeconds: gapOf(answers.flat()),
    eachSeconds: answers.map(gapOf),
    retried: window.retried,
  }
}

/** A table in Markdown: one row per kind of fault, with median and maximum over its repetitions. */
export function outageTable(outages: readonly Outage[], apis: readonly string[]): string[] {
  const rows = [...Map.groupBy(outages, ({ fault }) => fault)].map(([fault, each]) => [
    fault,
    String(each.length),
    spanOf(each.map(({ anySeconds }) => anySeconds)),
    ...apis.map((_, index) => spanOf(each.map(({ eachSeconds }) => eachSeconds[index] ?? 0))),
  ])
  const head = ['fault', 'times', 'no service', ...apis]
  return [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows].map(
    (cells) => `| ${cells.join(' | ')} |`,
  )
}

const spanOf = (values: readonly number[]) => `${medianOf(values)} (${maximumOf(values)})`

const maximumOf = (values: readonly number[]) => Math.max(...values).toFixed(1)

function medianOf(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0
  return ((upper + lower) / 2).toFixed(1)
}
