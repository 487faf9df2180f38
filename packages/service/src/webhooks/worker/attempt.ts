import { CryptoError, type SigningKey, signWebhookBase } from '@agent-exchange/crypto'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Clock } from '@agent-exchange/server/clock'
import type { AttemptDetails, FinishedAttempt } from '../queue/finished-attempt.ts'
import type { ClaimedDelivery } from '../queue/claim-deliveries.ts'
import { type AttemptResult, classifyAttempt, type Verdict } from './classify-attempt.ts'
import type { Sender, SendResult } from './sender.ts'
import type { KeyFor } from './signing-keys.ts'

const USER_AGENT = 'agent-exchange/1.0 (webhook)'

export interface AttemptTools {
  readonly worker: string
  readonly clock: Clock
  readonly profile: DeploymentProfile
  readonly sender: Sender
  readonly keyFor: KeyFor
  /** From 0 to 1. */
  readonly random: () => number
  /** Called for each attempt whose worker died, after it was recorded as lost. */
  readonly onLost: (lost: FinishedAttempt) => void
}

/** Undefined: the request was cancelled before it was sent, so the delivery must be released. */
export async function attemptDelivery(
  claimed: ClaimedDelivery,
  tools: AttemptTools,
): Promise<FinishedAttempt | undefined> {
  const { clock, sender } = tools
  const startedAt = clock.now()
  const from = clock.monotonicMilliseconds()
  const failPermanently = (reason: string) =>
    finished(claimed, {
      startedAt,
      finishedAt: clock.now(),
      verdict: { outcome: 'failed', reason },
      details: { error: reason },
    })
  if (claimed.body === null) return failPermanently('the notification was deleted by retention')
  const key = await tools.keyFor(claimed)
  const body = Buffer.from(claimed.body)
  const signature = await signAttempt(claimed, body, key, startedAt)
  if (!signature) return failPermanently('the URL or the ids cannot be signed')
  const sent = await sender.send({
    url: claimed.url,
    organizationId: claimed.organization_id,
    headers: { ...signature.headers, 'User-Agent': USER_AGENT },
    body,
  })
  if (sent.result === undefined) return undefined
  const duration = clock.monotonicMilliseconds() - from
  const finishedAt = clock.now()
  const verdict = verdictOf(sent.result, { attempt: claimed.attempt, now: finishedAt }, tools)
  const details = {
    ...detailsOf(sent, verdict, duration),
    key_id: key.keyId,
    // Lets the receiver's developer compare signature bases line by line. It contains no secret.
    signature_base: signature.signatureBase,
  }
  return finished(claimed, { startedAt, finishedAt, verdict, details })
}

/** EVT-05: each attempt has its own signature. Undefined if the delivery can never be signed. */
async function signAttempt(
  claimed: ClaimedDelivery,
  body: Uint8Array,
  { key, keyId }: SigningKey,
  now: string,
) {
  const { url, delivery_id: deliveryId, event_id: eventId, attempt } = claimed
  try {
    return await signWebhookBase(
      { url, body, deliveryId, eventId, attempt },
      { key, keyId, created: new Date(now) },
    )
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

export function verdictOf(
  result: AttemptResult,
  { attempt, now }: { attempt: number; now: string },
  { profile, random }: Pick<AttemptTools, 'profile' | 'random'>,
): Verdict {
  return classifyAttempt(result, { attempt, now, profile, jitter: random() })
}

function detailsOf(
  { result, address, tlsVersion, error }: SendResult,
  verdict: Verdict,
  duration: number,
): AttemptDetails {
  return {
    duration_ms: Math.round(duration * 10) / 10,
    address,
    tls_version: tlsVersion,
    status: result?.kind === 'answer' ? result.status : undefined,
    error_class: result?.kind === 'error' ? result.errorClass : undefined,
    error,
    next_attempt_at: verdict.outcome === 'retry' ? verdict.at : undefined,
  }
}

function finished(
  claimed: ClaimedDelivery,
  result: Pick<FinishedAttempt, 'startedAt' | 'finishedAt' | 'verdict' | 'details'>,
): FinishedAttempt {
  return {
    deliveryId: claimed.delivery_id,
    claimId: claimed.claim_id,
    endpointId: claimed.webhook_endpoint_id,
    organizationId: claimed.organization_id,
    attempt: claimed.attempt,
    hasAnswered: claimed.has_answered,
    wasFailing: claimed.was_failing,
    ...result,
  }
}
