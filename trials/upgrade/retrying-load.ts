import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'
import {
  newAttempt,
  sendPackage,
  sendReceipt,
  startClients,
  type Attempt,
  type Ledger,
  type Load,
} from '../shared/ledger.ts'

export const CLIENTS = 64
/** Between two packages of a client. */
const PAUSE_MS = 1_500
const MAXIMUM_TRIES = 40
const RETRY_PAUSE_MS = 150
const RESPONSE_LIMIT_MS = 5_000

export interface RetryingLoad extends Load {
  readonly ledger: Ledger
  /** Packages that got no response after all retries. */
  readonly failed: readonly Attempt[]
}

/** Clients that send a package, retry it with the same idempotency key at the other process, and then send the next. */
export function startRetryingLoad(
  pairs: readonly (readonly [from: Organization, to: Organization])[],
  urls: readonly string[],
): RetryingLoad {
  const ledger: Ledger = []
  const failed: Attempt[] = []
  const load = startClients(CLIENTS, async (client, turn) => {
    const [from, to] = pairs[(client + turn) % pairs.length] ?? []
    if (!from || !to) return false
    const attempt = await newAttempt(from, to)
    ledger.push(attempt)
    if (!(await sendWithRetries(attempt, urls, client + turn))) failed.push(attempt)
    await sleep(PAUSE_MS)
    return true
  })
  return { ...load, ledger, failed }
}

async function sendWithRetries(attempt: Attempt, urls: readonly string[], first: number): Promise<boolean> {
  let isReceiptAccepted = false
  for (let tries = 0; tries < MAXIMUM_TRIES; tries++) {
    const options = { at: urls[(first + tries) % urls.length], limitMs: RESPONSE_LIMIT_MS }
    isReceiptAccepted ||= (await sendReceipt(attempt, options)) !== undefined
    if (isReceiptAccepted && (await sendPackage(attempt, options))) return true
    await sleep(RETRY_PAUSE_MS)
  }
  return false
}
