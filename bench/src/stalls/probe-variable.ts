/** The variable of a process that preloads the probe. */
export const STALLS_FILE_VARIABLE = 'AEX_BENCH_STALLS_FILE'
