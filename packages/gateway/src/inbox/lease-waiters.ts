import type { Database } from '@agent-exchange/database'
import {
  INBOX_CHANNEL,
  nextAvailableInMs,
  takeItems,
  type LeasedItem,
  type TakeRequest,
} from './inbox-items.ts'
import { MAXIMUM_WAITING_REQUESTS } from './inbox-limits.ts'

export interface LeaseWaiters {
  /**
   * Takes items, or waits for the first. Empty when the time is over or `signal` aborts; undefined if too many
   * requests wait already.
   */
  take(
    request: TakeRequest,
    wait: { readonly seconds: number; readonly signal?: AbortSignal },
  ): Promise<LeasedItem[] | undefined>
  /** Ends all waits; requests get what there is, which is nothing. */
  stop(): void
}

interface Waiter {
  readonly agentIds: ReadonlySet<string>
  readonly wake: () => void
}

/** Longest pause of a waiter: the notification of another instance may be lost with its connection. */
const LONGEST_PAUSE_MS = 5_000

/** Requests of this instance that wait for items. They are woken by notifications of the database. */
export async function openLeaseWaiters(db: Database): Promise<LeaseWaiters> {
  const waiters = new Set<Waiter>()
  const stopped = new AbortController()
  const wake = (agentId?: string) => {
    for (const waiter of waiters) if (agentId === undefined || waiter.agentIds.has(agentId)) waiter.wake()
  }
  await db.listen(INBOX_CHANNEL, wake, () => wake())

  async function take(
    request: TakeRequest,
    { seconds, signal }: { seconds: number; signal?: AbortSignal },
  ): Promise<LeasedItem[] | undefined> {
    const first = await takeItems(db, request)
    if (first.length > 0 || seconds === 0) return first
    if (waiters.size >= MAXIMUM_WAITING_REQUESTS) return undefined
    const ended = AbortSignal.any([
      stopped.signal,
      AbortSignal.timeout(seconds * 1_000),
      ...(signal ? [signal] : []),
    ])
    // A notification may arrive between the take and the pause.
    let isWoken = true
    let resume: (() => void) | undefined
    const waiter: Waiter = {
      agentIds: new Set(request.agentIds),
      wake() {
        isWoken = true
        resume?.()
      },
    }
    const onEnd = () => resume?.()
    waiters.add(waiter)
    ended.addEventListener('abort', onEnd)
    try {
      while (!ended.aborted) {
        isWoken = false
        const taken = await takeItems(db, request)
        if (taken.length > 0) return taken
        const next = (await nextAvailableInMs(db, request.agentIds)) ?? LONGEST_PAUSE_MS
        if (isWoken || ended.aborted) continue
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(Math.max(next, 1), LONGEST_PAUSE_MS))
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return []
    } finally {
      waiters.delete(waiter)
      ended.removeEventListener('abort', onEnd)
    }
  }

  return { take, stop: () => stopped.abort() }
}
