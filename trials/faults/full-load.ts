import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'
import { CLIENTS } from '../../bench/src/exchange/market.ts'
import { PLAINTEXT_BYTES } from '../../bench/src/load/package-parts.ts'
import type { Exchange } from '../shared/exchange.ts'
import { each } from '../shared/ledger-checks.ts'
import {
  newAttempt,
  sendPackage,
  sendReceipt,
  startClients,
  type Attempt,
  type Ledger,
} from '../shared/ledger.ts'

/**
 * The load of `npm run bench` for packages, with policy receipts that are sent beforehand.
 */
/** Fewer in a quick run, because creating organizations is slow. */
export const RECEIVERS = { full: 100, quick: 20 }
const PAIRS = 200
const PACKAGE_BYTES = { atLeast: 12_000, atMost: 13_000 }

/** A client retries a request without a response after this timeout and pause. */
const RESPONSE_LIMIT_MS = 5_000
const RETRY_PAUSE_MS = 50
/** Limit for the first responses. */
const START_LIMIT_MS = 30_000

export interface Market {
  readonly senders: readonly Organization[]
  readonly receivers: readonly Organization[]
  /** Packages that are ready to send: their policy receipts were accepted. */
  readonly stock: Ledger
  /** Packages that were sent at least once. */
  readonly ledger: Ledger
}

export async function openMarket(exchange: Exchange, receiving: number): Promise<Market> {
  const make = async (name: string, count: number) => {
    const made: Organization[] = []
    const names = Array.from({ length: count }, () => name)
    await each(names, async () => void made.push(await exchange.organization(name)))
    return made
  }
  const senders = await make('sender', CLIENTS)
  return { senders, receivers: await make('receiver', receiving), stock: [], ledger: [] }
}

/** Fills the stock up to `count` packages and submits their receipts. Returns the size of a package. */
export async function fillStock({ senders, receivers, stock }: Market, count: number): Promise<number> {
  let bytes = 0
  const missing = Array.from({ length: count - stock.length }, (_, number) => number % PAIRS)
  const prepare = async (pair: number) => {
    const [from, to] = [senders[pair % senders.length], receivers[pair % receivers.length]]
    assert.ok(from && to)
    const attempt = await newAttempt(from, to, { plaintext: randomBytes(PLAINTEXT_BYTES) })
    bytes = Buffer.byteLength(JSON.stringify(attempt.draft.body))
    assert.ok(bytes >= PACKAGE_BYTES.atLeast && bytes <= PACKAGE_BYTES.atMost, `${bytes} bytes`)
    assert.ok(await sendReceipt(attempt), attempt.failures.join())
    stock.push(attempt)
  }
  await each(missing, prepare, CLIENTS)
  return bytes
}

/** Each client sends its next package after a response, and retries a request that got none. */
export function startFullLoad({ stock, ledger }: Market) {
  const unanswered = new Map<number, Attempt>()
  const milestone = { answers: Infinity, ...Promise.withResolvers<void>() }
  let answered = 0
  const takeNext = () => {
    const attempt = stock.pop()
    if (attempt) ledger.push(attempt)
    return attempt
  }
  const { stop, finished } = startClients(CLIENTS, async (client) => {
    const attempt = unanswered.get(client) ?? takeNext()
    if (!attempt) return false
    unanswered.set(client, attempt)
    if (await sendPackage(attempt, { limitMs: RESPONSE_LIMIT_MS })) {
      unanswered.delete(client)
      if (++answered === milestone.answers) milestone.resolve()
    } else await sleep(RETRY_PAUSE_MS)
    return true
  })
  return {
    stop,
    inFlight: () => unanswered.size,
    /** Resolves after this number of responses. */
    answers: async (count: number) => {
      milestone.answers = count
      const limit = sleep(START_LIMIT_MS, undefined, { ref: false })
      await Promise.race([milestone.promise, finished, limit])
      assert.ok(answered >= count, `${answered} responses instead of ${count}`)
    },
  }
}
