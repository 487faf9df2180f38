/** Preloaded by a measured process: on SIGUSR2 it writes what its memory consists of. See `memory-of.ts`. */

import { writeFileSync } from 'node:fs'
import { getHeapCodeStatistics, getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { FILE_VARIABLE, FLAGS_VARIABLE, type MemoryReading } from './probe-settings.ts'

// NODE_OPTIONS accepts few flags of V8; the others still work before the heap has grown.
for (const flag of (process.env[FLAGS_VARIABLE] ?? '').split(' ').filter(Boolean)) setFlagsFromString(flag)

process.on('SIGUSR2', () => {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
  const { code_and_metadata_size, bytecode_and_metadata_size } = getHeapCodeStatistics()
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  const reading: MemoryReading = {
    resident: rss,
    heapUsed,
    heapTotal,
    young: young?.space_size ?? 0,
    code: code_and_metadata_size + bytecode_and_metadata_size,
    external,
  }
  writeFileSync(`${process.env[FILE_VARIABLE]}.${process.pid}`, JSON.stringify(reading))
})
