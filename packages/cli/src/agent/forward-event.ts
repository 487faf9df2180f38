import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { InvalidArgumentError } from 'commander'
import { CommandFailure } from '../failure.ts'

const ANSWER_MS = 30_000
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

export type Forward = (event: NotificationEnvelope, signal?: AbortSignal) => Promise<number>

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/** Events name partners and packages, so they leave the machine by https only. */
export function readForwardUrl(text: string): string {
  const url = URL.parse(text)
  const isLocal = url?.protocol === 'http:' && isLoopback(url.hostname)
  if (url?.protocol === 'https:' || isLocal) return url.href
  throw new InvalidArgumentError(
    'Use an https address, or http on this machine (http://localhost:3000/hook).',
  )
}

/** Passes verified events on as JSON. An answer other than 2xx is a failure, after which the event is passed on again. */
export function forwardTo(url: string): Forward {
  return async (event, signal) => {
    const timeout = AbortSignal.timeout(ANSWER_MS)
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'svc-event-id': event.event_id },
      body: JSON.stringify(event),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }).catch((error: unknown) => {
      throw new CommandFailure(`${url} did not answer${codeOf(error)}.`)
    })
    await answer.body?.cancel()
    if (!answer.ok) throw new CommandFailure(`${url} answered with ${answer.status}.`)
    return answer.status
  }
}

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
}
