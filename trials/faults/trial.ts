/** The options and the output of a trial. */
export interface Report {
  /** Run fewer repetitions. */
  readonly quick: boolean
  /** How many requests to send, where the trial sends a number of them. */
  readonly requests: number | undefined
  /** Prints one line of progress or results. */
  line(text: string): void
}

/** A long-running test of the real processes. It passes unless it throws. */
export interface Trial {
  readonly name: string
  /** What it proves, with requirement ids. */
  readonly what: string
  run(report: Report): Promise<void>
}
