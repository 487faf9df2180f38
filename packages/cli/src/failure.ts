/** A failure that the person at the terminal can mend: its sentence is printed, without a stack. */
export class CommandFailure extends Error {}

/** Exit code of `aex monitor` where it could not look, because 1 says that it found something. */
const COULD_NOT_LOOK = 4

/** Exit code of wrong arguments and of failures. Of these commands, 1 is a result: a contradiction, a damaged backup. */
export function failureExitCode(args: readonly string[]): number {
  const [first, second] = args.filter((word) => !word.startsWith('-'))
  if (first === 'monitor') return COULD_NOT_LOOK
  const isVerdict =
    first === 'verify' || `${first} ${second}` === 'backup verify' || `${first} ${second}` === 'log compare'
  return isVerdict ? 2 : 1
}
