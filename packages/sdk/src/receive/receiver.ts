import type { WebhookEndpointResource } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { keepAcknowledging } from './acknowledge.ts'
import {
  type EndpointOptions,
  ensureEndpoint,
  isRefusal,
  rememberedEndpoint,
  rememberedUrl,
} from './endpoint.ts'
import type { Gap, Inbox, InboxEvent, InboxPosition } from './inbox.ts'
import { FIXED_LIMITS, pollBackoff, RECEIVE_LIMITS, type ReceiveLimits } from './receive-limits.ts'
import { createNotificationKeys, type NotificationKeys } from './notification-keys.ts'
import { pollStream } from './poll-stream.ts'
import { type EventHandler, processEvents } from './process-events.ts'
import { type Activity, guarded, type OnReport } from './reports.ts'
import { backoffMs, pause, withJitter } from '../pause-and-backoff.ts'
import { createWaker, repeatEvery } from './waker.ts'
import { checkPublicUrl, createWebhookHandler, type WebhookHandler } from './webhook-handler.ts'

export interface ReceiverOptions<Transaction = unknown> {
  readonly inbox: Inbox<Transaction>
  /** What the agent does about an event. See {@link EventHandler}. */
  readonly handle: EventHandler<Transaction>
  /**
   * The address that was registered at the exchange, where another than `ensureEndpoint` did that: signatures
   * cover its host and path.
   */
  readonly publicUrl?: string
  /** Told of everything that is not an event: refusals, troubles, gaps, events set aside. */
  readonly onReport?: OnReport
  readonly limits?: Partial<ReceiveLimits>
}

export interface ReceiverStatus extends InboxPosition {
  readonly gaps: readonly Gap[]
  readonly directoryVersion: string | undefined
  /** When the last webhook was verified and stored, since the start of this receiver. */
  readonly lastWebhookAt: string | undefined
}

/** The receiving half of an agent. */
export interface Receiver extends AsyncDisposable {
  /** Takes webhooks; usable as soon as the receiver has started. */
  readonly handler: WebhookHandler
  readonly keys: NotificationKeys
  /** Begins to poll and to process. Works without the exchange: what it needs is in the inbox. */
  start(): Promise<void>
  /** Ends polling and processing; a call of the handler that is under way is told, and waited for. */
  stop(): Promise<void>
  /** Registers the address for webhooks, once over all restarts. */
  ensureEndpoint(url: string, options?: EndpointOptions): Promise<WebhookEndpointResource>
  /** Reads the stream to its end, now. */
  poll(): Promise<void>
  setAside(): Promise<readonly InboxEvent[]>
  /** Gives an event that was set aside another turn. False if there is none. */
  retrySetAside(eventId: string): Promise<boolean>
  status(): Promise<ReceiverStatus>
}

/**
 * Takes what the exchange tells the agent's organization: by signed webhooks where the agent has an address, by
 * polling otherwise, and by polling whatever webhooks did not bring. Each event is stored before it is answered,
 * and handled in the order of the stream.
 *
 * @example
 * await using receiver = createReceiver(context, {
 *   inbox: openSqliteInbox('./agent/inbox.db'),
 *   handle: async (event) => console.log(event.sequence, event.event_type, event.package_id),
 * })
 * await receiver.start()
 */
export function createReceiver<Transaction>(
  context: AgentContext,
  options: ReceiverOptions<Transaction>,
): Receiver {
  const { inbox, handle } = options
  const { connection, identity, now, profile } = context
  const limits: ReceiveLimits = { ...RECEIVE_LIMITS, ...options.limits }
  const onReport = guarded(options.onReport)
  const troubleDuring = (during: Activity) => (error: unknown) => onReport({ kind: 'trouble', during, error })
  const [events, stream, acknowledgements] = [createWaker(), createWaker(), createWaker()]
  let publicUrl = options.publicUrl
  if (publicUrl !== undefined) checkPublicUrl(publicUrl)
  // Without webhooks the stream is asked often, beside them seldom.
  let hasWebhooks = false
  let lastWebhookAt: string | undefined
  let bound: Promise<void> | undefined
  let running: { readonly stop: AbortController; readonly loops: Promise<unknown> } | undefined

  const keys = createNotificationKeys({
    fetchDirectory: () => connection.call('getNotificationSigningKeys'),
    store: inbox,
    now,
    refreshMs: limits.keyRefreshMs,
    onTrouble: troubleDuring('key_refresh'),
  })

  const handler = createWebhookHandler({
    organizationId: identity.organizationId,
    keys,
    inbox,
    now,
    profile,
    publicUrl: async () => {
      await prepared()
      return publicUrl
    },
    limits: { maximumBytes: limits.webhookBytes, timeoutMs: limits.webhookBodyMs },
    onStored: ({ sequence }) => {
      hasWebhooks = true
      lastWebhookAt = now().toISOString()
      events.wake()
      noticeGap(sequence)
    },
    onRejected: (error, status) => {
      onReport({ kind: 'webhook_rejected', error, status })
      const { cause } = error
      if (cause instanceof ExchangeError && cause.code === 'event_conflict') {
        onReport({ kind: 'event_conflict', error: cause })
      }
    },
  })

  /** Before anything else: the stream of the inbox, and the address that an earlier run has registered. */
  async function prepare(): Promise<void> {
    await inbox.bind({ exchange: connection.baseUrl, organizationId: identity.organizationId })
    publicUrl ??= await rememberedUrl(inbox)
    hasWebhooks ||= (await rememberedEndpoint(inbox)) !== undefined
  }
  const prepared = () =>
    (bound ??= prepare().catch((error: unknown) => {
      bound = undefined
      throw error
    }))

  let gapTimer: ReturnType<typeof setTimeout> | undefined

  /** Webhooks overtake each other, so a hole gets a moment to close before the stream is asked. */
  function noticeGap(sequence: number): void {
    if (!running || gapTimer !== undefined) return
    gapTimer = setTimeout(() => {
      gapTimer = undefined
      inbox.position().then(({ lastContiguousSequence, highestSequence }) => {
        if (lastContiguousSequence < Math.max(sequence, highestSequence)) stream.wake()
      }, troubleDuring('inbox'))
    }, limits.gapPatienceMs)
  }

  function onPage(): void {
    events.wake()
    acknowledgements.wake()
  }

  function poll(signal?: AbortSignal): Promise<boolean> {
    const { pageItems } = limits
    return pollStream(context, { inbox, pageItems, onReport, onPage, ...(signal && { signal }) })
  }

  async function pollLoop(signal: AbortSignal): Promise<void> {
    const { pollMs, safetyPollMs, jitter } = limits
    const backoff = pollBackoff(limits)
    let [failures, openGaps] = [0, 0]
    while (!signal.aborted) {
      try {
        const isComplete = await poll(signal)
        failures = 0
        if (!isComplete) continue
        // The stream does not show yet what a webhook has brought: it is asked again, soon and then less often.
        const { lastContiguousSequence, highestSequence } = await inbox.position()
        openGaps = lastContiguousSequence < highestSequence ? openGaps + 1 : 0
        const interval = withJitter(hasWebhooks ? safetyPollMs : pollMs, jitter)
        const soon = openGaps > 0 ? backoffMs(openGaps, backoff) : interval
        await stream.wait(Math.min(interval, soon), signal)
      } catch (error) {
        if (signal.aborted) return
        onReport({ kind: 'trouble', during: 'poll', error })
        await pause(backoffMs(++failures, backoff), signal)
      }
    }
  }

  /** Who has no address needs no keys. */
  async function refreshKeys(): Promise<void> {
    if (publicUrl !== undefined) await keys.refreshIfDue()
  }

  async function prune(): Promise<void> {
    const before = new Date(now().getTime() - limits.processedMs).toISOString()
    while ((await inbox.prune(before, limits.pruneStep)) === limits.pruneStep);
  }

  async function stop(): Promise<void> {
    const ending = running
    running = undefined
    clearTimeout(gapTimer)
    gapTimer = undefined
    ending?.stop.abort()
    await ending?.loops
  }

  return {
    handler,
    keys,
    async start() {
      await prepared()
      if (running) return
      const abort = new AbortController()
      const { signal } = abort
      const refreshMs = Math.min(limits.keyRefreshMs, FIXED_LIMITS.keyRefreshRetryMs)
      const loops = Promise.all([
        pollLoop(signal),
        processEvents({ inbox, handle, now, limits, waker: events, signal, onReport }),
        keepAcknowledging(context, { inbox, signal, onReport, limits, waker: acknowledgements }),
        repeatEvery(refreshMs, limits.jitter, signal, refreshKeys, troubleDuring('key_refresh')),
        repeatEvery(limits.pruneMs, limits.jitter, signal, prune, troubleDuring('prune')),
      ])
      running = { stop: abort, loops }
    },
    stop,
    async ensureEndpoint(url, endpointOptions) {
      checkPublicUrl(url)
      await prepared()
      // Before the call, because the first delivery may come before its answer does.
      const before = publicUrl
      publicUrl = options.publicUrl ?? url
      try {
        const endpoint = await ensureEndpoint(context, { inbox, keys }, url, endpointOptions)
        hasWebhooks = true
        return endpoint
      } catch (error) {
        if (isRefusal(error)) publicUrl = before
        throw error
      }
    },
    async poll() {
      await prepared()
      while (!(await poll()));
    },
    setAside: () => inbox.list('set_aside', limits.listedEvents),
    async retrySetAside(eventId) {
      const isThere = await inbox.retry(eventId)
      events.wake()
      return isThere
    },
    async status() {
      const [position, gaps, pins] = await Promise.all([inbox.position(), inbox.gaps(), keys.pins()])
      return { ...position, gaps, directoryVersion: pins?.directory_version, lastWebhookAt }
    },
    [Symbol.asyncDispose]: stop,
  }
}
