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
import { uncheckedSentence, watchLog } from '../log/watch-log.ts'
import { createNotificationKeys, type NotificationKeys } from './notification-keys.ts'
import { pollStream } from './poll-stream.ts'
import { type EventHandler, processEvents, type SubjectOf, type Wants } from './process-events.ts'
import { type Activity, guarded, type OnReport } from './reports.ts'
import { backoffMs, pause, withJitter } from '../pause-and-backoff.ts'
import { createWaker, repeatEvery } from './waker.ts'
import { checkPublicUrl, createWebhookHandler, type WebhookHandler } from './webhook-handler.ts'

export interface ReceiverOptions<Transaction = unknown> {
  readonly inbox: Inbox<Transaction>
  /** Handles an event. See {@link EventHandler}. */
  readonly handle: EventHandler<Transaction>
  /** Events with the same subject are handled once, even if their ids differ. */
  readonly subjectOf?: SubjectOf
  /** Events that are not wanted are marked as processed without a call of the handler. Default: all are wanted. */
  readonly wants?: Wants
  /**
   * The registered address, if it was not registered by `ensureEndpoint`. Signatures cover its host and path.
   */
  readonly publicUrl?: string
  /** Receives reports about refusals, failures, gaps and set-aside events. */
  readonly onReport?: OnReport
  readonly limits?: Partial<ReceiveLimits>
}

export interface ReceiverStatus extends InboxPosition {
  readonly gaps: readonly Gap[]
  readonly directoryVersion: string | undefined
  /** When this receiver last verified and stored a webhook. */
  readonly lastWebhookAt: string | undefined
}

/** Receives the events of an agent's organization. */
export interface Receiver extends AsyncDisposable {
  /** Handles webhooks once the receiver has started. */
  readonly handler: WebhookHandler
  readonly keys: NotificationKeys
  /** Starts polling and processing. Does not need the exchange: its state is in the inbox. */
  start(): Promise<void>
  /** Stops polling and processing. Aborts a running call of the handler and waits for it. */
  stop(): Promise<void>
  /** Registers the webhook address once, across restarts. */
  ensureEndpoint(url: string, options?: EndpointOptions): Promise<WebhookEndpointResource>
  /** Reads the stream to its end. */
  poll(): Promise<void>
  /** Another process stored an event: looks for it now instead of at the next interval. */
  wake(): void
  setAside(): Promise<readonly InboxEvent[]>
  /** Retries a set-aside event. False if there is none. */
  retrySetAside(eventId: string): Promise<boolean>
  status(): Promise<ReceiverStatus>
}

/**
 * Receives the events of the agent's organization: by signed webhooks if the agent has an address, and by polling.
 * Polling also finds events that no webhook delivered. Each event is stored before it is acknowledged, and handled in
 * stream order.
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
  const { inbox, handle, subjectOf, wants } = options
  const { connection, identity, now } = context
  const limits: ReceiveLimits = { ...RECEIVE_LIMITS, ...options.limits }
  const onReport = guarded(options.onReport)
  const troubleDuring = (during: Activity) => (error: unknown) => onReport({ kind: 'trouble', during, error })
  const [events, stream, acknowledgements] = [createWaker(), createWaker(), createWaker()]
  let publicUrl = options.publicUrl
  if (publicUrl !== undefined) checkPublicUrl(publicUrl)
  // Polling is frequent without webhooks and rare with them.
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
    profile: context.deployment.profile,
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

  /** Binds the inbox and restores the registered address of an earlier run. */
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

  /** Webhooks arrive out of order, so a gap may close before the stream is polled. */
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

  let reportedSince: string | undefined

  /** An event stream is no proof that the log continues: a contact checks both. */
  async function watch(): Promise<void> {
    const { unchecked } = await watchLog(context)
    if (unchecked && unchecked.since !== reportedSince)
      onReport({
        kind: 'trouble',
        during: 'log',
        error: new ExchangeError('exchange_unreachable', {
          what: uncheckedSentence(unchecked),
          retryable: true,
        }),
      })
    reportedSince = unchecked?.since
  }

  async function pollLoop(signal: AbortSignal): Promise<void> {
    const { pollMs, safetyPollMs, jitter } = limits
    const backoff = pollBackoff(limits)
    let [failures, openGaps] = [0, 0]
    while (!signal.aborted) {
      try {
        const [isComplete] = await Promise.all([poll(signal), watch().catch(troubleDuring('log'))])
        failures = 0
        if (!isComplete) continue
        // The stream does not show an event that a webhook delivered: poll again, with backoff.
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

  /** An agent without a webhook address needs no keys. */
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
        processEvents({
          inbox,
          handle,
          ...(subjectOf && { subjectOf }),
          ...(wants && { wants }),
          now,
          limits,
          waker: events,
          signal,
          onReport,
        }),
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
      // Before the call: the first delivery may arrive before the response.
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
      await watch()
    },
    wake() {
      events.wake()
      // The webhooks before it may have been lost, and the process that stored it does not poll.
      noticeGap(0)
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
