import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'
import {
  newAttempt,
  sendPackage,
  sendReceipt,
  startClients,
  type Attempt,
  type Ledger,
} from '../shared/ledger.ts'

const CLIENTS = 64
/** Between two packages of a client. */
const PAUSE_MS = 2_000
const RETRY_PAUSE_MS = 400
/** A client does not wait longer for an answer; it retries elsewhere. */
const RESPONSE_LIMIT_MS = 5_000
/** No fault takes the service away for longer. */
const SUCCESS_LIMIT_MS = 180_000

export interface RunningClients {
  readonly ledger: Ledger
  /** Times of successful answers by API process. */
  readonly answers: readonly number[][]
  /** All failed requests so far. */
  failures(): string[]
  /** Packages that were accepted by a request without an answer: a retry got the answer of that request. */
  inDoubt(): number
  /** Clients do not pause, so that a fault meets commits under way. Returns a function that ends it. */
  rush(): () => void
  /** Resolves when every client has finished its last package. */
  stop(): Promise<void>
  /** Rejects when a client fails for good. */
  readonly failed: Promise<never>
}

/** Each client sends one package after the other, and retries at either API process until it succeeds. */
export function startClientsAt(
  apis: readonly string[],
  pairs: readonly (readonly [from: Organization, to: Organization])[],
): RunningClients {
  const ledger: Ledger = []
  const answers = apis.map((): number[] => [])
  let pauseMs = PAUSE_MS
  let inDoubt = 0

  async function succeed(attempt: Attempt, first: number): Promise<void> {
    const started = performance.now()
    for (let api = first; ; api = Math.floor(Math.random() * apis.length)) {
      const options = { at: apis[api], limitMs: RESPONSE_LIMIT_MS }
      const triedAt = Date.now()
      const isSent =
        (attempt.receiptAnswer !== undefined || (await sendReceipt(attempt, options))) &&
        (await sendPackage(attempt, options))
      if (isSent) {
        answers[api]?.push(performance.now())
        if (acceptedAt(attempt) < triedAt) inDoubt++
        return
      }
      if (performance.now() - started > SUCCESS_LIMIT_MS)
        throw new Error(`a client got no answer: ${attempt.failures.slice(-5).join(', ')}`)
      await sleep(RETRY_PAUSE_MS * (0.5 + Math.random()))
    }
  }

  const { finished, stop } = startClients(CLIENTS, async (client, turn) => {
    const [from, to] = pairs[client % pairs.length] ?? []
    if (!from || !to) return false
    const attempt = await newAttempt(from, to)
    ledger.push(attempt)
    await succeed(attempt, (client + turn) % apis.length)
    await sleep(pauseMs * (0.5 + Math.random()))
    return true
  })
  const failed = finished.then(() => new Promise<never>(() => undefined))
  failed.catch(() => undefined)
  return {
    ledger,
    answers,
    failures: () => ledger.flatMap(({ failures }) => failures),
    inDoubt: () => inDoubt,
    rush() {
      pauseMs = 0
      return () => {
        pauseMs = PAUSE_MS
      }
    },
    stop,
    failed,
  }
}

/** In milliseconds of the clock that the exchange and the clients share. */
function acceptedAt({ answer = '{}' }: Attempt): number {
  const { updated_at } = JSON.parse(answer) as { readonly updated_at?: string }
  return Date.parse(updated_at ?? '')
}
