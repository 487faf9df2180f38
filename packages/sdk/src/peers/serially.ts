export type Serially = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** Serializes tasks with the same name, so that read-modify-write sequences do not interleave. */
export function createSerially(): Serially {
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = last.get(name)
    const mine = (async () => {
      await before?.catch(() => undefined)
      return work()
    })()
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
