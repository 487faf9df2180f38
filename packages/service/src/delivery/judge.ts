import {
  type DeploymentProfile,
  MAXIMUM_DELIVERY_ATTEMPTS,
  RETRY_DELAYS_SECONDS,
} from '@agent-exchange/protocol'
import { secondsAfter } from '../kernel/clock.ts'
import { retryAfterSeconds } from './retry-after.ts'

/** What kept a receiver's answer from us. */
export const ERROR_CLASSES = [
  'dns',
  'refused',
  'unreachable',
  'reset',
  'timeout',
  'tls',
  'protocol',
  'blocked_address',
  /** The worker was gone before it could say what became of the attempt. */
  'lost',
  /** The worker had to stop while it waited for the answer. */
  'interrupted',
] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]

/** What became of one attempt. The status decides: what follows it in the answer does not. */
export type AttemptResult =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: string | undefined }
  | { readonly kind: 'error'; readonly errorClass: ErrorClass }

export type Verdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retry'; readonly at: string; readonly reason: string }
  /** For good, without a repeat. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The last attempt failed in a way that would have been tried again. */
  | { readonly outcome: 'dead'; readonly reason: string }
  /** For good, and the endpoint is disabled. */
  | { readonly outcome: 'endpoint_gone'; readonly reason: string }

export interface Circumstances {
  /** From 1. */
  readonly attempt: number
  /** The time of the failure: delays are measured after it. */
  readonly now: string
  readonly profile: DeploymentProfile
  /** From 0 to 1: how much of the permitted jitter is added. */
  readonly jitter: number
}

/**
 * Retries of many deliveries that failed together come apart a little. Jitter only adds: a tenth of the delay, a
 * minute at most. A wait that the receiver asked for is kept to the letter.
 */
export const JITTER_SHARE = 0.1
export const MAXIMUM_JITTER_SECONDS = 60

/** EVT-07, EVT-08, O-33, O-44: what follows from the result of an attempt. */
export function judge(result: AttemptResult, circumstances: Circumstances): Verdict {
  const rules = circumstances.profile['O-33']
  if (result.kind === 'error') {
    const reason = result.errorClass
    if (reason === 'blocked_address') return byRule(rules.blocked_address, reason, circumstances)
    if (reason === 'tls') return byRule(rules.tls_failure, reason, circumstances)
    if (reason === 'lost' && circumstances.profile['O-44'].lost_attempt === 'at_once')
      return tryAtOnce(reason, circumstances)
    return tryAgain(reason, circumstances)
  }
  const { status, retryAfter } = result
  const reason = `status ${status}`
  if (status >= 200 && status < 300) return { outcome: 'delivered' }
  if (status >= 300 && status < 400) return byRule(rules.redirect, reason, circumstances)
  if (status === 429 || status === 503) return tryAgain(reason, circumstances, retryAfter)
  if (status === 410) return { outcome: 'endpoint_gone', reason }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) return { outcome: 'failed', reason }
  // 408, 425, 5xx; and what is no final status of HTTP at all, which says no more than a broken connection.
  return tryAgain(reason, circumstances)
}

function byRule(rule: 'permanent' | 'retry', reason: string, circumstances: Circumstances): Verdict {
  return rule === 'permanent' ? { outcome: 'failed', reason } : tryAgain(reason, circumstances)
}

/** Without a delay, and all the same not after the last attempt. */
function tryAtOnce(reason: string, { attempt, now }: Circumstances): Verdict {
  return attempt >= MAXIMUM_DELIVERY_ATTEMPTS
    ? { outcome: 'dead', reason }
    : { outcome: 'retry', at: now, reason }
}

function tryAgain(reason: string, { attempt, now, jitter }: Circumstances, retryAfter?: string): Verdict {
  const delay = RETRY_DELAYS_SECONDS[attempt - 1]
  if (attempt >= MAXIMUM_DELIVERY_ATTEMPTS || delay === undefined) return { outcome: 'dead', reason }
  const backoff = delay + jitter * Math.min(delay * JITTER_SHARE, MAXIMUM_JITTER_SECONDS)
  const wait = Math.max(backoff, retryAfterSeconds(retryAfter, now) ?? 0)
  // Whole milliseconds, upwards.
  return { outcome: 'retry', at: secondsAfter(now, Math.ceil(wait * 1_000) / 1_000), reason }
}
