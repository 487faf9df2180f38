import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Starting reads a few hundred modules and leaves two thirds of the heap as garbage that an idle process would keep for
 * hours. One collection, once everything runs, makes it as small as it can be.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
}
