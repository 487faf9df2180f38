/** A validation failure: location, violated requirement and advice. */
export interface Failure {
  /** RFC 6901 pointer to the member concerned; empty for the document itself. */
  readonly pointer: string
  /** Id of the violated requirement, or of the open point if the rule is ours. */
  readonly rule: string
  /** Advice for a person. It never contains a value of the input. */
  readonly message: string
}

/** Maximum number of failures in a list that people can read. */
export const MAXIMUM_FAILURES = 100

/** RFC 6901 section 3. */
export function pointerTo(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
