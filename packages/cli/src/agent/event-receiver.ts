import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { ExchangeError, type Receiver, type ReceiverOptions, type ReceiverReport } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { visible } from '../visible.ts'
import { explanationOf } from './agent-failure.ts'
import type { Place } from './next-step.ts'

/** A receiver on the inbox of the folder. It passes on every event in order, until the call succeeds once. */
export function receiverOf(
  agent: FolderAgent,
  show: (event: NotificationEnvelope, signal: AbortSignal) => void | Promise<void>,
  place: Place,
  limits: NonNullable<ReceiverOptions['limits']> = {},
): Receiver {
  const inbox = agent.inbox()
  const onReport = (what: ReceiverReport) => report(what, place)
  return agent.receiver({ inbox, handle: async (event, { signal }) => show(event, signal), onReport, limits })
}

export function eventLine(event: NotificationEnvelope): string {
  const { sequence, occurred_at, event_type, package_id, thread_id, state } = event
  return visible(`#${sequence}  ${occurred_at}  ${event_type}  ${package_id}  ${state}  ${thread_id}`)
}

/** Why a webhook was refused, with the text that its signature should cover. */
export function refusalLines(error: ExchangeError, status: number, place: Place): string[] {
  const { code, what, cause, failures } = error
  // Printed below, line by line.
  const { signatureBase, ...details } = error.details
  const shown = new ExchangeError(code, { ...(what !== undefined && { what }), details, failures, cause })
  const base =
    typeof signatureBase === 'string'
      ? ['  signature base (RFC 9421 section 2.5), as received:', ...signatureBase.split('\n').map(indented)]
      : []
  return [`refused a webhook (${status}): ${explained(shown, place)}`, ...base]
}

const indented = (line: string) => `    ${visible(line)}`

/** Prints reports to standard error. */
function report(what: ReceiverReport, place: Place): void {
  if (what.kind === 'webhook_rejected')
    for (const line of refusalLines(what.error, what.status, place)) console.error(line)
  else if (what.kind === 'handler_failed')
    console.error(`attempt ${what.attempt} for ${visible(what.eventId)}: ${explained(what.error, place)}`)
  else if (what.kind === 'set_aside')
    console.error(`set aside ${visible(what.eventId)}: ${visible(what.reason)}`)
  else if (what.kind === 'trouble')
    console.error(`trouble with ${what.during.replaceAll('_', ' ')}: ${explained(what.error, place)}`)
  else if (what.kind === 'handled_elsewhere')
    console.error(
      `${visible(what.eventId)} is handled by ${what.heldBy} with the same folder; this process waits, and takes over if that one ends`,
    )
  else if (what.kind === 'gap')
    console.error(
      `#${what.gap.firstSequence} to #${what.gap.lastSequence} are gone: ${what.gap.reason.replaceAll('_', ' ')}`,
    )
  else console.error(what.kind.replaceAll('_', ' '))
}

function explained(error: unknown, place: Place): string {
  if (error instanceof ExchangeError) return explanationOf(error, place)
  return error instanceof Error ? visible(error.message) : 'unknown'
}
