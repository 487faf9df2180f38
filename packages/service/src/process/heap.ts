import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * What a request needs is garbage a few milliseconds later, and little of the heap stays. By itself V8 keeps its limit
 * close above that little: in some runs under full load it collected the whole heap several times a second without end
 * (0013). And when a service rests, it takes the shapes that no object has right now together with all code that was
 * compiled for them: the next requests run slowly until it is compiled again. The price is memory that stays after a load.
 */
export const HEAP_FLAGS: readonly string[] = [
  // The whole heap is collected when it is five times as large as what stayed of it the last time.
  '--heap-growing-percent=400',
  // Shapes that compiled code is about outlive so many collections in which no object has them.
  '--retain-maps-for-n-gc=1000',
  // What V8 gives back after eight seconds of rest does not include them.
  '--no-memory-reducer-favors-memory',
  // V8 learns of places in the code that what is made there stays, and then makes it where only large collections look. What
  // a batch is made of outlives a small one or two and is garbage all the same.
  '--no-allocation-site-pretenuring',
]

/** From now on: V8 reads all of them when it plans a collection, so a running process may change them. */
export function tuneHeap(): void {
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag)
}

/**
 * Starting reads a few hundred modules and leaves two thirds of the heap as garbage that an idle process would keep for
 * hours. One collection, once everything runs, makes it as small as it can be.
 */
export function giveBackMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
}
