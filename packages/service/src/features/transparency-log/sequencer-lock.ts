/** Held by the one process that appends to the log and signs it. */
export const SEQUENCER_LOCK = 'transparency log sequencer'
