import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * V8 collects the heap again when it is larger by this part of what a collection left. By itself it takes about a tenth, and then
 * a process that leaves its rest collects the whole heap several times a second.
 */
const HEAP_GROWING_PERCENT = 300

/**
 * One full collection, for a process that has just started. Loading modules leaves a third of the memory as garbage, which V8
 * would keep until load makes it collect: a process at rest would hold it for days.
 */
export function collectStartupGarbage(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  collect({ type: 'major', flavor: 'last-resort' })
}
