/** A failure that the person at the terminal can mend: its sentence is printed, without a stack. */
export class CommandFailure extends Error {}
