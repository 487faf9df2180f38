import { createFairQueue } from './fair-queue.ts'
import { Problem } from './problem.ts'

/** The outcome of one item of a batch. */
export type BatchResult<Result> =
  | { readonly done: Result }
  | { readonly failed: unknown }
  /** Another transaction holds a lock that the item needs. Only a batch of one may wait for it. */
  | 'retrySingly'

/** Handles the items in one transaction; results in the same order. It may wait for locks only in a batch of one. */
export type RunBatch<Item, Result> = (items: readonly Item[]) => Promise<readonly BatchResult<Result>[]>

export interface BatcherOptions<Item, Result> {
  /** Batches that may run at the same time. */
  readonly concurrency: number
  /** Minimum size of a batch that starts while another one runs. Defaults to a full batch. */
  readonly minConcurrentBatch?: number | undefined
  readonly maximumBatch: number
  /** Items that may wait; the next one is refused. */
  readonly maximumQueue: number
  /** A batch takes from the holders in turn. Defaults to one holder. */
  readonly holderOf?: (item: Item) => string
  readonly run: RunBatch<Item, Result>
}

export interface Batcher<Item, Result> {
  submit(item: Item): Promise<Result>
  /** Items that wait for a batch, or for a lock on their own. */
  depth(): number
  /** Resolves when the queue is empty and no batch runs. */
  idle(): Promise<void>
}

interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Runs one item as a batch of one. */
export async function runSingly<Item, Result>(run: RunBatch<Item, Result>, item: Item): Promise<Result> {
  const [result] = await run([item])
  if (result === undefined || result === 'retrySingly') throw new Error('a batch of one has no result')
  if ('done' in result) return result.done
  throw result.failed
}

/**
 * Items that arrive while a batch runs form the next one. When none runs, the items of one event loop turn form a batch:
 * there is no timer, and no added latency when idle. If a batch fails, each of its items is retried singly, so that a
 * poisoned item fails without the others.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { concurrency, maximumBatch, minConcurrentBatch = maximumBatch, maximumQueue, run } = options
  const { holderOf = () => '' } = options
  const queue = createFairQueue<Waiting<Item, Result>>()
  const idlers: (() => void)[] = []
  let batches = 0
  let singles = 0
  let willStart = false

  function mayStart(): boolean {
    return batches === 0 ? queue.size() > 0 : batches < concurrency && queue.size() >= minConcurrentBatch
  }

  function start(): void {
    while (mayStart()) {
      batches += 1
      const batch = nextBatch()
      void settle(batch).finally(() => {
        batches -= 1
        start()
        settleIdlers()
      })
    }
  }

  function nextBatch(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = []
    for (let next = queue.shift(); next; next = batch.length < maximumBatch ? queue.shift() : undefined)
      batch.push(next)
    return batch
  }

  /** Requests arrive in bursts: started at once, the first request of a burst would be a batch of one. */
  function startSoon(): void {
    if (willStart) return
    willStart = true
    setImmediate(() => {
      willStart = false
      start()
    })
  }

  async function settle(batch: Waiting<Item, Result>[]): Promise<void> {
    let results: readonly BatchResult<Result>[]
    try {
      results = await run(batch.map(({ item }) => item))
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error)
      else batch.forEach(retrySingly)
      return
    }
    batch.forEach((waiting, index) => {
      const result = results[index] ?? { failed: new Error('a batch returned too few results') }
      if (result === 'retrySingly') retrySingly(waiting)
      else if ('done' in result) waiting.resolve(result.done)
      else waiting.reject(result.failed)
    })
  }

  /** Does not count against `concurrency`: it may wait for a lock, and must not delay the batches meanwhile. */
  function retrySingly({ item, resolve, reject }: Waiting<Item, Result>): void {
    singles += 1
    void runSingly(run, item)
      .then(resolve, reject)
      .finally(() => {
        singles -= 1
        settleIdlers()
      })
  }

  function refusalOf(holder: string): 'service_overloaded' | 'rate_limited' | undefined {
    if (queue.size() + singles >= maximumQueue) return 'service_overloaded'
    // Others find room, whatever one holder sends.
    return options.holderOf && queue.sizeOf(holder) >= maximumQueue / 2 ? 'rate_limited' : undefined
  }

  function settleIdlers(): void {
    if (batches + singles + queue.size() === 0) for (const resolve of idlers.splice(0)) resolve()
  }

  return {
    submit: (item) =>
      new Promise<Result>((resolve, reject) => {
        const refusal = refusalOf(holderOf(item))
        if (refusal) {
          reject(new Problem(refusal, { retry_after_seconds: 1 }))
          return
        }
        queue.push(holderOf(item), { item, resolve, reject })
        if (queue.size() >= maximumBatch) start()
        else startSoon()
      }),
    depth: () => queue.size() + singles,
    idle: () =>
      new Promise<void>((resolve) => {
        idlers.push(resolve)
        settleIdlers()
      }),
  }
}
