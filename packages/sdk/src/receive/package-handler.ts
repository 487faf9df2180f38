import type { ProtocolObject } from '@agent-exchange/protocol'
import type { AgentAddress, AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import type { OpenDependencies, OpenedPackage } from '../open/open-input.ts'
import { openPackage } from '../open/open-package.ts'
import { isOwnKeyFailure } from '../keys/own-key-failure.ts'
import { readThread } from '../connection/read-thread.ts'
import type { SentPackage } from '../send/send-input.ts'
import type { Effect } from './inbox.ts'
import { EventPostponed, EventUnprocessable, type EventHandler, type HandlerCall } from './process-events.ts'
import type { Reply, Replies } from './replies.ts'
import type { OnReport } from './reports.ts'

/** A package for this agent: verified, decrypted, with its receipts sent. */
export interface ReceivedPackage extends HandlerCall {
  readonly object: ProtocolObject
  readonly packageId: string
  readonly from: AgentAddress
  readonly thread: {
    readonly id: string
    /** Pages of the thread as the exchange shows it. */
    read(): ReturnType<typeof readThread>
  }
  readonly opened: OpenedPackage
  /**
   * Answers the package. A package has one answer: if an earlier call of the handler answered it, that answer is
   * delivered and returned instead. Further answers need a `key` of their own.
   */
  reply(reply: Reply): Promise<SentPackage>
  /** Answers with `decline_with_policy`. */
  decline(reason: string, reply?: Omit<Reply, 'summary' | 'actions'>): Promise<SentPackage>
}

/** Like {@link EventHandler}: called until it succeeds; a returned function takes effect exactly once. */
export type PackageHandler<Transaction = unknown> = (
  received: ReceivedPackage,
) => Promise<Effect<Transaction> | void> | Effect<Transaction> | void

export interface PackageHandling<Transaction> {
  readonly handle: PackageHandler<Transaction>
  readonly replies: Replies
  readonly open: OpenDependencies
  readonly onReport: OnReport
}

/** Emitted once for each package, whatever the profile (O-10). */
const ACCEPTED = 'package.accepted'

export const packageOf = (event: Parameters<EventHandler>[0]): string | undefined =>
  event.event_type === ACCEPTED ? event.package_id : undefined

/** Opens the packages of the stream that are addressed to this agent, and passes them to the handler. */
export function handlePackages<Transaction>(
  context: AgentContext,
  handling: PackageHandling<Transaction>,
): EventHandler<Transaction> {
  return async (event, call) => {
    const packageId = packageOf(event)
    if (packageId === undefined) return undefined
    try {
      if (!(await isForUs(context, packageId, call.signal))) return undefined
      const opened = await openOrReport(context, packageId, handling, call.signal)
      return await (opened && handling.handle(received(context, opened, handling, call)))
    } catch (error) {
      throw isOutage(error) || isOwnKeyFailure(error) ? new EventPostponed(error) : error
    }
  }
}

/** The stream is that of the organization: it also has packages of colleagues and of this agent itself. */
async function isForUs(
  { connection, identity }: AgentContext,
  packageId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { metadata } = await connection
    .call('getPackage', { path: { package_id: packageId }, signal })
    // A small request that never gets an answer: the exchange hangs.
    .catch((error: unknown) => {
      throw error instanceof ExchangeError && error.code === 'timed_out' ? new EventPostponed(error) : error
    })
  return (
    metadata.recipient_org_id === identity.organizationId &&
    metadata.recipient_agent_id === identity.agentId &&
    metadata.sender_agent_id !== identity.agentId
  )
}

/** Undefined for a package that this agent rejected by a receipt, and for one whose content is gone. */
async function openOrReport(
  context: AgentContext,
  packageId: string,
  { open, onReport }: PackageHandling<never>,
  signal: AbortSignal,
): Promise<OpenedPackage | undefined> {
  try {
    const opened = await openPackage(context, packageId, { ...open, signal })
    if (opened.logConflict) onReport({ kind: 'trouble', during: 'log', error: opened.logConflict })
    return opened
  } catch (error) {
    if (!(error instanceof ExchangeError) || error.retryable || error.code === 'aborted') throw error
    if (isOutage(error) || isOwnKeyFailure(error)) throw error
    const receipt = error.details['receipt'] as ReceiptOfFailure | undefined
    // The sender must learn of it: another attempt sends the receipt.
    if (receipt && !receipt.sent) throw error
    onReport({ kind: 'package_refused', packageId, receipt: receipt?.state, error })
    if (receipt?.state === 'rejected' || error.code === 'content_unavailable') return undefined
    throw new EventUnprocessable(error)
  }
}

interface ReceiptOfFailure {
  readonly state: 'rejected' | 'failed'
  readonly sent: boolean
}

function received(
  context: AgentContext,
  opened: OpenedPackage,
  { replies }: PackageHandling<never>,
  call: HandlerCall,
): ReceivedPackage {
  const { object, metadata } = opened
  const { reply, decline } = replies(opened, call.signal)
  const threadId = metadata.thread_id
  return {
    ...call,
    object,
    packageId: metadata.package_id,
    from: { organizationId: metadata.sender_org_id, agentId: metadata.sender_agent_id },
    thread: { id: threadId, read: () => readThread(context, threadId) },
    opened,
    reply,
    decline,
  }
}

/** The exchange cannot be used by this agent at all, whatever the package. */
const CLOSED: ReadonlySet<ExchangeErrorCode> = new Set([
  'caller_suspended',
  'exchange_untrusted',
  'discovery_failed',
  'token_refused',
])

/** The exchange is away: no fault of the package or the handler, so it does not count as an attempt. */
function isOutage(error: unknown): boolean {
  if (!(error instanceof ExchangeError)) return false
  const { code, retryable } = error
  if (CLOSED.has(code)) return true
  return retryable && (code === 'exchange_unreachable' || code === 'exchange_refused')
}
