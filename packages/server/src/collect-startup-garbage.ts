import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * One full collection, for a process that has just started. Loading modules leaves a third of the memory as garbage, which V8
 * would keep until load makes it collect: a process at rest would hold it for days.
 */
export function collectStartupGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  collect({ type: 'major', flavor: 'last-resort' })
}
