import { randomUUID } from 'node:crypto'
import type { LeasedItem } from './inbox-item.ts'
import {
  INBOX_CHANNEL,
  nextAvailableInMs,
  takeItems,
  type InboxStores,
  type LocalWaiters,
  type TakeRequest,
} from './inbox-items.ts'
import { MAXIMUM_WAITING_REQUESTS } from './inbox-limits.ts'

export interface LeaseWaiters extends LocalWaiters {
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
  /** It looks for items before it pauses again. */
  isWoken: boolean
  resume?: (() => void) | undefined
}

/** Longest pause of a waiter: the notification of another instance may be lost with its connection. */
const LONGEST_PAUSE_MS = 5_000

/** Requests of this instance that wait for items. They are woken by notifications of the database. */
export async function openLeaseWaiters(stores: InboxStores): Promise<LeaseWaiters> {
  const { db } = stores
  const waiters = new Set<Waiter>()
  const stopped = new AbortController()
  const wake = (waiter: Waiter) => {
    waiter.isWoken = true
    waiter.resume?.()
  }
  /** One waiter for each item: the others would find nothing. */
  const wakeOne = (agentId: string) => {
    for (const waiter of waiters) if (!waiter.isWoken && waiter.agentIds.has(agentId)) return wake(waiter)
  }
  const instance = randomUUID()
  const onNotification = (payload: string) => {
    const [agentId = '', wokenBy] = payload.split(' ')
    if (wokenBy !== instance) wakeOne(agentId)
  }
  // Notifications may have been lost.
  const onConnected = () => waiters.forEach(wake)
  await db.listen(INBOX_CHANNEL, onNotification, onConnected)

  async function take(
    request: TakeRequest,
    { seconds, signal }: { seconds: number; signal?: AbortSignal },
  ): Promise<LeasedItem[] | undefined> {
    if (seconds === 0) return takeItems(stores, request)
    if (waiters.size >= MAXIMUM_WAITING_REQUESTS) {
      const available = await takeItems(stores, request)
      return available.length > 0 ? available : undefined
    }
    const ended = AbortSignal.any([
      stopped.signal,
      AbortSignal.timeout(seconds * 1_000),
      ...(signal ? [signal] : []),
    ])
    const waiter: Waiter = { agentIds: new Set(request.agentIds), isWoken: false }
    const onEnd = () => waiter.resume?.()
    waiters.add(waiter)
    ended.addEventListener('abort', onEnd)
    try {
      while (!ended.aborted) {
        waiter.isWoken = false
        const taken = await takeItems(stores, request)
        if (taken.length > 0) return taken
        const next = (await nextAvailableInMs(db, request.agentIds)) ?? LONGEST_PAUSE_MS
        if (waiter.isWoken || ended.aborted) continue
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.min(Math.max(next, 1), LONGEST_PAUSE_MS))
          waiter.resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      return []
    } finally {
      waiters.delete(waiter)
      // What it was woken for is left for another one.
      if (waiter.isWoken) request.agentIds.forEach(wakeOne)
      ended.removeEventListener('abort', onEnd)
    }
  }

  return { instance, onItem: wakeOne, take, stop: () => stopped.abort() }
}
