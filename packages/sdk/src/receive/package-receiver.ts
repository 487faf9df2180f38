import type { AgentContext } from '../context.ts'
import type { OpenDependencies } from '../open/open-input.ts'
import type { Approve, SendDependencies } from '../send/send-input.ts'
import type { SendDefaults } from '../send/send-defaults.ts'
import { handlePackages, packageOf, type PackageHandler } from './package-handler.ts'
import { createReceiver, type Receiver, type ReceiverOptions } from './receiver.ts'
import { createReplies } from './replies.ts'
import { guarded } from './reports.ts'

/** Options of {@link createPackageReceiver} that a caller of `onPackage` may set. */
export interface PackageReceiverOptions<Transaction = unknown> extends Omit<
  ReceiverOptions<Transaction>,
  'handle' | 'subjectOf' | 'wants'
> {
  readonly open?: Pick<OpenDependencies, 'maximumBytes' | 'onProgress'>
  readonly approve?: Approve
}

export interface PackageReceiverTerms {
  readonly send: SendDependencies
  readonly defaults: SendDefaults
}

/**
 * A receiver that opens the packages addressed to this agent, in stream order, and passes each to the handler until it
 * succeeds once. Packages that cannot be opened get their receipt and are reported.
 */
export function createPackageReceiver<Transaction>(
  context: AgentContext,
  handle: PackageHandler<Transaction>,
  { send, defaults }: PackageReceiverTerms,
  { open = {}, approve, ...options }: PackageReceiverOptions<Transaction>,
): Receiver {
  const onReport = guarded(options.onReport)
  const { dataSpace, outbox } = send
  const { inbox } = options
  const replies = createReplies(context, { inbox, defaults, send, ...(approve && { approve }) })
  const handling = { handle, replies, open: { ...open, outbox, ...(dataSpace && { dataSpace }) }, onReport }
  return createReceiver(context, {
    ...options,
    handle: handlePackages(context, handling),
    subjectOf: packageOf,
    wants: (event) => packageOf(event) !== undefined,
  })
}
