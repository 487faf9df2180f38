import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { ExchangeError, type Receiver, type ReceiverOptions, type ReceiverReport } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { visible } from '../visible.ts'
import { explanationOf } from './agent-failure.ts'
import type { Place } from './next-step.ts'

/** A receiver on the inbox of the folder. It passes on every event once, in order. */
export function receiverOf(
  agent: FolderAgent,
  show: (event: NotificationEnvelope) => void,
  place: Place,
  limits: NonNullable<ReceiverOptions['limits']> = {},
): Receiver {
  const inbox = agent.inbox()
  const onReport = (what: ReceiverReport) => report(what, place)
  return agent.receiver({ inbox, handle: async (event) => show(event), onReport, limits })
}

export function eventLine(event: NotificationEnvelope): string {
  const { sequence, occurred_at, event_type, package_id, thread_id, state } = event
  return visible(`#${sequence}  ${occurred_at}  ${event_type}  ${package_id}  ${state}  ${thread_id}`)
}

/** Prints reports to standard error. */
function report(what: ReceiverReport, place: Place): void {
  if (what.kind === 'webhook_rejected')
    console.error(`refused a webhook (${what.status}): ${explained(what.error, place)}`)
  else if (what.kind === 'trouble')
    console.error(`trouble with ${what.during.replaceAll('_', ' ')}: ${explained(what.error, place)}`)
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
