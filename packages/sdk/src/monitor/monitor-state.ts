/** What a monitor keeps between two runs. */
export interface MonitorState {
  /** Threads whose packages are watched. */
  readonly threads: readonly string[]
  /** The checkpoint up to which the log was scanned. */
  readonly scanned?: string
  /** Own labels that were found, in hexadecimal, with the index of each. */
  readonly found: readonly (readonly [label: string, index: number])[]
  /** Packages and agents, with the last number whose label was searched in every scanned leaf. */
  readonly searched?: readonly (readonly [subject: string, last: number])[]
  /** When the log was last scanned from its first leaf. */
  readonly lookedBackAt?: string
  /** Labels of events that wait for their leaf, each with the time when this was first seen. */
  readonly waiting?: readonly (readonly [label: string, since: string])[]
  /** Where the event stream was last read for threads. */
  readonly cursor?: string
  /** Numbers of key events that the owner says it caused by other means than this agent. */
  readonly ownEvents?: readonly number[]
}
