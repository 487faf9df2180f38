import type { TransactionOutcome } from '@agent-exchange/database'

/** A delivery that was claimed in the transaction that created it, with everything its first request needs. */
export interface DirectDelivery {
  readonly delivery_id: string
  readonly claim_id: number
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly event_id: string
  readonly next_attempt_at: string
  readonly url: string
  readonly signing_key_id: string
  readonly body: string
  readonly traceparent: string | null
}

/** Free slots of the delivery engine, held until the transaction ends. */
export interface DirectReservation {
  readonly worker: string
  /** How many deliveries may be claimed for each endpoint. */
  readonly slots: readonly { readonly endpointId: string; readonly room: number }[]
  /** Call it exactly once. Starts the claimed deliveries after a commit, and frees the slots that were not used. */
  end(outcome: TransactionOutcome, claimed: readonly DirectDelivery[]): void
}

/** Lets the delivery engine of this process send new deliveries right after their commit, without the queue. */
export interface DirectClaims {
  /** `notifications`: how many each organization is about to get. Undefined: no slot is free for any of them. */
  reserve(notifications: ReadonlyMap<string, number>): DirectReservation | undefined
}

/** Without an attached engine, as in a process that does not deliver, nothing can be reserved. */
export function createDirectClaims(): DirectClaims & { attach(engine: DirectClaims): void } {
  let attached: DirectClaims | undefined
  return {
    reserve: (notifications) => attached?.reserve(notifications),
    attach: (engine) => void (attached = engine),
  }
}
