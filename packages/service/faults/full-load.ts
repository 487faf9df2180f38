import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Organization } from '@agent-exchange/testkit'
import type { Exchange } from './exchange.ts'
import { each } from './ledger-checks.ts'
import { newAttempt, sendPackage, sendReceipt, startClients, type Attempt, type Ledger } from './ledger.ts'

/**
 * The load that `npm run bench` measures the acceptance of packages with. Mirrored, since nothing here may depend on
 * the benchmark: CLIENTS and RECEIVERS of bench/src/exchange/market.ts, each client an organization of its own;
 * PLAINTEXT_BYTES of bench/src/samples/package-parts.ts; the pairs of bench/src/load/package-maker.ts; and, as in
 * bench/src/packages/contenders.ts, policy receipts that are there beforehand, so that clients send packages only.
 */
export const CLIENTS = 64
/** Making them takes as long as everything else of a quick run. */
export const RECEIVERS = { full: 100, quick: 20 }
const PLAINTEXT_BYTES = 5_900
const PAIRS = 200
const PACKAGE_BYTES = { atLeast: 12_000, atMost: 13_000 }

/** A client without an answer repeats its request, after a pause. */
const PATIENCE_MS = 5_000
const PAUSE_MS = 50
/** Nobody waits longer for the first answers. */
const BEGIN_LIMIT_MS = 30_000

export interface Market {
  readonly senders: readonly Organization[]
  readonly receivers: readonly Organization[]
  /** Ready to be sent: their policy receipts were accepted. */
  readonly stock: Ledger
  /** Sent at least once. */
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

/** Makes as many packages as are missing, and hands in their receipts. Returns the bytes of one. */
export async function fillStock({ senders, receivers, stock }: Market, count: number): Promise<number> {
  let bytes = 0
  const missing = Array.from({ length: count - stock.length }, (_, number) => number % PAIRS)
  const prepare = async (pair: number) => {
    const [from, to] = [senders[pair % senders.length], receivers[pair % receivers.length]]
    assert.ok(from && to)
    const attempt = await newAttempt(from, to, { plaintext: randomBytes(PLAINTEXT_BYTES) })
    bytes = Buffer.byteLength(JSON.stringify(attempt.draft.body))
    assert.ok(bytes >= PACKAGE_BYTES.atLeast && bytes <= PACKAGE_BYTES.atMost, `${bytes} bytes`)
    assert.ok(await sendReceipt(attempt), attempt.troubles.join())
    stock.push(attempt)
  }
  await each(missing, prepare, CLIENTS)
  return bytes
}

/** Each client sends the next package when it has its answer, and repeats a request that got none. */
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
    if (await sendPackage(attempt, { limitMs: PATIENCE_MS })) {
      unanswered.delete(client)
      if (++answered === milestone.answers) milestone.resolve()
    } else await sleep(PAUSE_MS)
    return true
  })
  return {
    stop,
    underWay: () => unanswered.size,
    /** Resolves in the moment of so many answers. */
    answers: async (count: number) => {
      milestone.answers = count
      const limit = sleep(BEGIN_LIMIT_MS, undefined, { ref: false })
      await Promise.race([milestone.promise, finished, limit])
      assert.ok(answered >= count, `${answered} answers instead of ${count}`)
    },
  }
}
