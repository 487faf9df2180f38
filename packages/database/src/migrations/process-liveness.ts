/** Seconds between two reports of a process in the table service_process. */
export const REPORT_SECONDS = 10
/** A process that missed three reports counts as gone. */
export const ALIVE_SECONDS = 3 * REPORT_SECONDS + 5
