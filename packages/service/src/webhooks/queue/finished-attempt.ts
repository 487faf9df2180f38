import type { ErrorClass, Verdict } from '../worker/classify-attempt.ts'

/** Diagnostic details of an attempt. They contain no body and no secret. */
export interface AttemptDetails {
  readonly duration_ms?: number
  readonly address?: string | undefined
  readonly tls_version?: string | undefined
  readonly key_id?: string
  readonly status?: number | undefined
  readonly error_class?: ErrorClass | undefined
  readonly error?: string | undefined
  readonly next_attempt_at?: string | undefined
  readonly signature_base?: string
}

/** A finished attempt. */
export interface FinishedAttempt {
  readonly deliveryId: string
  readonly claimId: number
  readonly endpointId: string
  readonly organizationId: string
  readonly attempt: number
  /** Whether the endpoint had answered with 2xx before (O-45). */
  readonly hasAnswered: boolean
  /** Whether the previous attempts to the endpoint failed. */
  readonly wasFailing: boolean
  readonly startedAt: string
  readonly finishedAt: string
  readonly verdict: Verdict
  readonly details: AttemptDetails
}
