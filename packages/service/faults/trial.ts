/** What a trial may say while it runs. */
export interface Report {
  /** Fewer repetitions of the same thing. */
  readonly quick: boolean
  /** One line of progress, or of what was measured. */
  line(text: string): void
}

/** One long trial of the real processes. It passes unless it throws. */
export interface Trial {
  readonly name: string
  /** What holds when it passes, with the ids of the requirements. */
  readonly what: string
  run(report: Report): Promise<void>
}
