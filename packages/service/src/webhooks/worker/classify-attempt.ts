import {
  type DeploymentProfile,
  MAXIMUM_DELIVERY_ATTEMPTS,
  RETRY_DELAYS_SECONDS,
} from '@agent-exchange/protocol'
import { secondsAfter } from '@agent-exchange/server/clock'
import { retryAfterSeconds } from './retry-after.ts'
import { JITTER_SHARE, MAXIMUM_JITTER_SECONDS } from './webhook-limits.ts'

/** Why an attempt got no response. */
export const ERROR_CLASSES = [
  'dns',
  'refused',
  'unreachable',
  'reset',
  'timeout',
  'tls',
  'protocol',
  'blocked_address',
  /** The worker died before it recorded the result. */
  'lost',
  /** The worker was stopped while it waited for the response. */
  'interrupted',
] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]

/** The result of one attempt. The status alone decides; the rest of the response does not matter. */
export type AttemptResult =
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfter?: string | undefined }
  | { readonly kind: 'error'; readonly errorClass: ErrorClass }

export type Verdict =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'retry'; readonly at: string; readonly reason: string }
  /** Permanent: no further attempt. */
  | { readonly outcome: 'failed'; readonly reason: string }
  /** The last attempt ended with a retryable failure. */
  | { readonly outcome: 'dead'; readonly reason: string }
  /** Permanent, and the endpoint is disabled. */
  | { readonly outcome: 'endpoint_gone'; readonly reason: string }

export interface AttemptContext {
  /** From 1. */
  readonly attempt: number
  /** The time of the failure, from which delays are measured. */
  readonly now: string
  readonly profile: DeploymentProfile
  /** From 0 to 1: how much of the permitted jitter is added. */
  readonly jitter: number
}

/** EVT-07, EVT-08, O-33, O-44: decides between delivery, retry and failure. */
export function classifyAttempt(result: AttemptResult, context: AttemptContext): Verdict {
  const rules = context.profile['O-33']
  if (result.kind === 'error') {
    const reason = result.errorClass
    if (reason === 'blocked_address') return applyRule(rules.blocked_address, reason, context)
    if (reason === 'tls') return applyRule(rules.tls_failure, reason, context)
    if (reason === 'lost' && context.profile['O-44'].lost_attempt === 'at_once')
      return retryImmediately(reason, context)
    return retryWithBackoff(reason, context)
  }
  const { status, retryAfter } = result
  const reason = `status ${status}`
  if (status >= 200 && status < 300) return { outcome: 'delivered' }
  if (status >= 300 && status < 400) return applyRule(rules.redirect, reason, context)
  if (status === 429 || status === 503) return retryWithBackoff(reason, context, retryAfter)
  if (status === 410) return { outcome: 'endpoint_gone', reason }
  if (status >= 400 && status < 500 && status !== 408 && status !== 425) return { outcome: 'failed', reason }
  // 408, 425, 5xx, and anything that is not a final HTTP status, which is treated like a broken connection.
  return retryWithBackoff(reason, context)
}

function applyRule(rule: 'permanent' | 'retry', reason: string, context: AttemptContext): Verdict {
  return rule === 'permanent' ? { outcome: 'failed', reason } : retryWithBackoff(reason, context)
}

/** Retries without a delay, but never after the last attempt. */
function retryImmediately(reason: string, { attempt, now }: AttemptContext): Verdict {
  return attempt >= MAXIMUM_DELIVERY_ATTEMPTS
    ? { outcome: 'dead', reason }
    : { outcome: 'retry', at: now, reason }
}

function retryWithBackoff(
  reason: string,
  { attempt, now, jitter }: AttemptContext,
  retryAfter?: string,
): Verdict {
  const delay = RETRY_DELAYS_SECONDS[attempt - 1]
  if (attempt >= MAXIMUM_DELIVERY_ATTEMPTS || delay === undefined) return { outcome: 'dead', reason }
  const backoff = delay + jitter * Math.min(delay * JITTER_SHARE, MAXIMUM_JITTER_SECONDS)
  const wait = Math.max(backoff, retryAfterSeconds(retryAfter, now) ?? 0)
  // Round up to whole milliseconds.
  return { outcome: 'retry', at: secondsAfter(now, Math.ceil(wait * 1_000) / 1_000), reason }
}
