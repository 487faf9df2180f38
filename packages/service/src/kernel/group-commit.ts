import { Problem } from './problem.ts'

/** What a batch says of one of its items. */
export type BatchResult<Result> =
  | { readonly done: Result }
  | { readonly failed: unknown }
  /** Somebody else is working on the same thing: try again by itself, where waiting hurts nobody. */
  | 'alone'

export interface GroupCommitOptions<Item, Result> {
  /** Batches under way at once. */
  readonly lanes: number
  /** Beside another one, a batch starts with no fewer, so that there are few and large ones: only full ones by default. */
  readonly leastBeside?: number
  readonly maximumBatch: number
  /** Items that may wait; the next one is refused. */
  readonly maximumQueue: number
  /** Commits the items in one transaction; results in the same order. It may wait for locks only when it gets one. */
  readonly commit: (items: readonly Item[]) => Promise<readonly BatchResult<Result>[]>
}

export interface GroupCommit<Item, Result> {
  submit(item: Item): Promise<Result>
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/**
 * Requests that arrive while a commit is under way form the next batch, and when none is, those that arrive in one turn
 * of the event loop: no timer, no added latency when idle. An item that makes its batch fail is found by running each by
 * itself, so one poisoned request fails alone.
 */
export function createGroupCommit<Item, Result>(
  options: GroupCommitOptions<Item, Result>,
): GroupCommit<Item, Result> {
  const { lanes, maximumBatch, leastBeside = maximumBatch, maximumQueue, commit } = options
  const queue: Waiting<Item, Result>[] = []
  const idlers: (() => void)[] = []
  let underWay = 0
  let alone = 0
  let willStart = false

  function isWorthABatch(): boolean {
    return underWay === 0 ? queue.length > 0 : underWay < lanes && queue.length >= leastBeside
  }

  function start(): void {
    while (isWorthABatch()) {
      underWay += 1
      const batch = queue.splice(0, maximumBatch)
      void run(batch).finally(() => {
        underWay -= 1
        start()
        settleIdlers()
      })
    }
  }

  /** Not at once: requests come in bursts, and the first of them would be a batch by itself. */
  function startSoon(): void {
    if (willStart) return
    willStart = true
    setImmediate(() => {
      willStart = false
      start()
    })
  }

  async function run(batch: Waiting<Item, Result>[]): Promise<void> {
    let results: readonly BatchResult<Result>[]
    try {
      results = await commit(batch.map(({ item }) => item))
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error)
      else batch.forEach(runAlone)
      return
    }
    batch.forEach((waiting, index) => {
      const result = results[index] ?? { failed: new Error('a batch returned too few results') }
      if (result === 'alone') runAlone(waiting)
      else if ('done' in result) waiting.resolve(result.done)
      else waiting.reject(result.failed)
    })
  }

  /** Outside the lanes: it may wait for a lock, and must not hold up others meanwhile. */
  function runAlone(waiting: Waiting<Item, Result>): void {
    alone += 1
    void commitOne(waiting.item)
      .then(waiting.resolve, waiting.reject)
      .finally(() => {
        alone -= 1
        settleIdlers()
      })
  }

  async function commitOne(item: Item): Promise<Result> {
    const [result] = await commit([item])
    if (result === undefined || result === 'alone') throw new Error('an item alone was put off')
    if ('done' in result) return result.done
    throw result.failed
  }

  function settleIdlers(): void {
    if (underWay + alone + queue.length === 0) for (const settle of idlers.splice(0)) settle()
  }

  return {
    submit: (item) =>
      new Promise<Result>((resolve, reject) => {
        if (queue.length + alone >= maximumQueue) {
          reject(new Problem('service_overloaded', { retry_after_seconds: 1 }))
          return
        }
        queue.push({ item, resolve, reject })
        if (queue.length >= maximumBatch) start()
        else startSoon()
      }),
    idle: () =>
      new Promise<void>((resolve) => {
        idlers.push(resolve)
        settleIdlers()
      }),
  }
}
