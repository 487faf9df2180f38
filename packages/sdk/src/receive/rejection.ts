import type { CryptoError, CryptoErrorCode } from '@agent-exchange/crypto'
import { MEDIA_TYPE, type DeploymentProfile } from '@agent-exchange/protocol'
import { ExchangeError, type ErrorCircumstances } from '../errors.ts'
import type { BodyFailure } from './read-body.ts'

/** Why a delivery is refused. The sender sees the status only. */
export class Rejection extends Error {
  readonly status: number
  readonly error: ExchangeError
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    circumstances: ErrorCircumstances & { readonly headers?: Readonly<Record<string, string>> },
  ) {
    super('The delivery was not taken.')
    const { headers = {}, ...rest } = circumstances
    this.status = status
    this.headers = headers
    // The sender retries after these statuses (408, 5xx).
    this.error = new ExchangeError('webhook_rejected', {
      retryable: status >= 500 || status === 408,
      ...rest,
      details: { ...rest.details, status },
    })
  }
}

const DIGEST_CODES = new Set<CryptoErrorCode>(['webhook_body_digest', 'digest_malformed', 'digest_missing'])

/** O-12: the status for each failed step of the verification. */
export function refusedBy(cause: CryptoError, statuses: DeploymentProfile['O-12']): Rejection {
  const { code, at, signatureBase } = cause
  const details = {
    code,
    ...(at !== undefined && { at }),
    ...(signatureBase !== undefined && { signatureBase }),
  }
  return new Rejection(statusOf(code, statuses), { what: cause.message, cause, details })
}

function statusOf(
  code: CryptoErrorCode,
  { signature, digest, notification }: DeploymentProfile['O-12'],
): number {
  if (DIGEST_CODES.has(code)) return digest
  return code.startsWith('json_') || code === 'webhook_event_id' ? notification : signature
}

const BODY_FAILURES: Readonly<Record<BodyFailure, { status: number; what: string }>> = {
  too_large: { status: 413, what: 'The body is larger than a notification can be.' },
  too_slow: { status: 408, what: 'The body did not arrive in time.' },
  broken_off: { status: 400, what: 'The body broke off.' },
}

export function bodyRejected(failure: BodyFailure): Rejection {
  const { status, what } = BODY_FAILURES[failure]
  return new Rejection(status, { what })
}

/** A minimal RFC 9457 problem, which reveals nothing to an attacker. */
export function answer({ status, headers }: Pick<Rejection, 'status' | 'headers'>): Response {
  const problem = { type: 'about:blank', title: 'The delivery was not taken', status }
  return new Response(JSON.stringify(problem), {
    status,
    headers: { 'content-type': MEDIA_TYPE.problem, 'cache-control': 'no-store', ...headers },
  })
}
