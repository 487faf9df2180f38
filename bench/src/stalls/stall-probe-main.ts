/** Preloaded by a measured process: on SIGUSR2 it writes when its event loop was blocked. See `stalls-of.ts`. */

import { writeFileSync } from 'node:fs'
import { STALLS_FILE_VARIABLE } from './probe-variable.ts'
import { recordStalls } from './stall-recorder.ts'

const recorder = recordStalls()
process.on('SIGUSR2', () => {
  writeFileSync(`${process.env[STALLS_FILE_VARIABLE]}.${process.pid}`, JSON.stringify(recorder.take()))
})
