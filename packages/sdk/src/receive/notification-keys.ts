import { importPublicJwk, type PublicKey, type WebhookKey } from '@agent-exchange/crypto'
import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { Inbox } from './inbox.ts'
import { mergePins, refreshDueAt, type NotificationPins, type PinnedNotificationKey } from './key-pins.ts'
import { FIXED_LIMITS, RECEIVE_LIMITS } from './receive-limits.ts'

const STORED_AS = 'notification_keys'

/** The exchange's webhook keys, pinned. */
export interface NotificationKeys {
  /**
   * The key that a delivery names; undefined if the directory, read after the delivery arrived, has none. Throws if
   * the directory cannot be read: the delivery should be retried.
   */
  find(keyId: string): Promise<WebhookKey | undefined>
  /** Reads the directory now. Concurrent calls share one request. */
  refresh(): Promise<NotificationPins>
  /** Refreshes if it is due. */
  refreshIfDue(): Promise<void>
  /** The pinned keys, including old ones. */
  pins(): Promise<NotificationPins | undefined>
}

export interface NotificationKeysOptions {
  readonly fetchDirectory: () => Promise<NotificationKeyDirectory>
  /** Durable storage of the pins. */
  readonly store: Pick<Inbox, 'readValue' | 'writeValue'>
  readonly now: () => Date
  readonly refreshMs?: number
  /** Called when a refresh fails that no caller waits for. */
  readonly onTrouble?: (error: unknown) => void
}

/**
 * Pins the notification keys of an exchange and refreshes them.
 *
 * @example
 * const keys = createNotificationKeys({
 *   fetchDirectory: () => context.connection.call('getNotificationSigningKeys'),
 *   store: inbox,
 *   now: context.now,
 * })
 * await keys.refresh()
 */
export function createNotificationKeys(options: NotificationKeysOptions): NotificationKeys {
  const { fetchDirectory, store, now, refreshMs = RECEIVE_LIMITS.keyRefreshMs, onTrouble } = options
  const imported = new WeakMap<PinnedNotificationKey, Promise<PublicKey>>()
  const time = () => now().getTime()
  const takePermit = permits(time)
  let current: NotificationPins | undefined
  let loaded: Promise<void> | undefined
  let underWay: Promise<NotificationPins> | undefined
  // Numbers the requests, to know which of them started after a delivery arrived.
  let [started, succeeded] = [0, 0]
  let failedAt = -Infinity

  /** What an earlier run has pinned. A text that cannot be read is as good as none: the directory has it. */
  async function load(): Promise<void> {
    const text = await store.readValue(STORED_AS)
    if (text === undefined || current) return
    try {
      current = JSON.parse(text) as NotificationPins
    } catch {
      current = undefined
    }
  }

  async function pins(): Promise<NotificationPins | undefined> {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    await loaded
    return current
  }

  function refresh(): Promise<NotificationPins> {
    underWay ??= fetchAndPin().finally(() => (underWay = undefined))
    return underWay
  }

  async function fetchAndPin(): Promise<NotificationPins> {
    const number = ++started
    try {
      const before = await pins()
      const directory = await fetchDirectory()
      const merged = mergePins(before, directory, now().toISOString())
      await store.writeValue(STORED_AS, JSON.stringify(merged))
      current = merged
      succeeded = number
      return merged
    } catch (error) {
      failedAt = time()
      throw error
    }
  }

  async function refreshIfDue(): Promise<void> {
    const pinned = await pins()
    const isDue = !pinned || time() >= refreshDueAt(pinned, refreshMs)
    if (!isDue || time() < failedAt + FIXED_LIMITS.keyRefreshRetryMs) return
    await refresh()
  }

  async function find(keyId: string): Promise<WebhookKey | undefined> {
    const [askedAt, before] = [time(), started]
    await refreshPatiently()
    const usable = async () => {
      const key = lookUp(await pins(), keyId)
      return key && !isOutrun(key, askedAt) ? webhookKey(key) : undefined
    }
    const pinned = await usable()
    if (pinned) return pinned
    if (underWay && started === before) {
      await underWay.catch(() => undefined)
      const meanwhile = await usable()
      if (meanwhile) return meanwhile
    }
    // Only a directory read after the delivery arrived proves that the key does not exist.
    if (succeeded <= before) {
      if (!underWay && !takePermit()) throw tooManyUnknown()
      await refresh()
    }
    const found = lookUp(current, keyId)
    return found && webhookKey(found)
  }

  /** Waits for a due refresh, up to a limit. If it fails, the pinned keys are used. */
  async function refreshPatiently(): Promise<void> {
    const refreshed = refreshIfDue().catch((error: unknown) => onTrouble?.(error))
    let timer: ReturnType<typeof setTimeout> | undefined
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FIXED_LIMITS.keyRefreshPatienceMs)
    })
    await Promise.race([refreshed, patience])
    clearTimeout(timer)
  }

  async function webhookKey(key: PinnedNotificationKey): Promise<WebhookKey> {
    let publicKey = imported.get(key)
    if (!publicKey) imported.set(key, (publicKey = importPublicJwk(key.public_key, { use: 'signing' })))
    return {
      publicKey: await publicKey,
      // A key that left the directory is kept for history only.
      status: key.left_directory_at !== undefined && key.status !== 'revoked' ? 'retired' : key.status,
      valid_from: key.valid_from,
      valid_until: key.valid_until ?? null,
    }
  }

  return { find, refresh, refreshIfDue, pins }
}

const lookUp = (pins: NotificationPins | undefined, keyId: string) =>
  pins?.keys.find((key) => key.key_id === keyId && key.use === 'signing')

/** Expired according to the pins; the directory may have extended it. */
function isOutrun({ left_directory_at, valid_until }: PinnedNotificationKey, time: number): boolean {
  return left_directory_at === undefined && valid_until !== undefined && Date.parse(valid_until) <= time
}

/** A token bucket: anyone can send deliveries that name unknown keys. */
function permits(time: () => number): () => boolean {
  const { unknownKeyBurst, unknownKeyRefillMs } = FIXED_LIMITS
  let left: number = unknownKeyBurst
  let countedAt = time()
  return () => {
    const refilled = Math.floor((time() - countedAt) / unknownKeyRefillMs)
    if (refilled > 0) {
      left = Math.min(unknownKeyBurst, left + refilled)
      countedAt += refilled * unknownKeyRefillMs
    }
    if (left === 0) return false
    left--
    return true
  }
}

function tooManyUnknown(): ExchangeError {
  const what = 'Too many deliveries name keys that are not pinned; the directory is asked again later.'
  return new ExchangeError('exchange_unreachable', { what, retryable: true })
}
