/** Variables of a process that preloads the probe. */
export const FILE_VARIABLE = 'AEX_BENCH_MEMORY_FILE'
export const FLAGS_VARIABLE = 'AEX_BENCH_V8_FLAGS'

/** In bytes. */
export interface MemoryReading {
  readonly resident: number
  readonly heapUsed: number
  /** What V8 keeps for its heap, with the young generation and code. */
  readonly heapTotal: number
  readonly young: number
  /** Machine code and bytecode with their metadata. */
  readonly code: number
  /** Buffers, outside the heap. */
  readonly external: number
}
