/** One thing that is wrong, where it is, which requirement says so, and what to do about it. */
export interface Failure {
  /** RFC 6901 pointer to the member concerned; empty for the document itself. */
  readonly pointer: string
  /** Id of the broken requirement, or of the open point where the rule is ours. */
  readonly rule: string
  /** A sentence a person can act on. It never repeats a value that was given. */
  readonly message: string
}

/** A list of failures is for people; past this many it says nothing new. */
export const MAXIMUM_FAILURES = 100

/** RFC 6901 section 3. */
export function pointerTo(parent: string, member: string | number): string {
  return `${parent}/${String(member).replaceAll('~', '~0').replaceAll('/', '~1')}`
}
