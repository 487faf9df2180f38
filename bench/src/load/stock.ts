import type { Address, Outgoing } from './connection.ts'
import type { Next } from './loops.ts'
import type { MadePackage } from './package-maker.ts'

/** The target of requests, with a token for each sender. */
export interface Target extends Address {
  readonly tokens: readonly string[]
}

/** Size of a group that is created while the previous one is prepared. */
const MADE_AT_ONCE = 500

export interface StockSettings<Item extends MadePackage = MadePackage> {
  readonly path: string
  readonly make: () => Promise<Item>
  /** Does what has to precede the request, such as storing policy receipts. */
  readonly prepare?: ((items: readonly Item[], target: Target | undefined) => Promise<void>) | undefined
}

/** Requests that are made before the clock starts. */
export interface Stock {
  /** Creates the missing requests. The target is needed if policy receipts are created through the API. */
  fill(count: number, target?: Target): Promise<void>
  /** Each is sent once. */
  take(host: string, tokens: readonly string[]): Next
  /** For a stateless server: repeats the same requests. */
  cycle(host: string, tokens: readonly string[]): Next
}

export function createStock<Item extends MadePackage>({ path, make, prepare }: StockSettings<Item>): Stock {
  const waiting: Item[] = []

  async function makeSome(count: number): Promise<Item[]> {
    const made: Item[] = []
    while (made.length < count) made.push(await make())
    return made
  }

  async function store(made: readonly Item[], target: Target | undefined): Promise<void> {
    if (made.length > 0) await prepare?.(made, target)
    waiting.push(...made)
  }

  return {
    async fill(count, target) {
      let made: readonly Item[] = []
      do {
        const missing = count - waiting.length - made.length
        ;[made] = await Promise.all([makeSome(Math.min(missing, MADE_AT_ONCE)), store(made, target)])
      } while (made.length > 0)
    },
    take: (host, tokens) => () => {
      const item = waiting.pop()
      return item && requestOf(path, host, tokens, item)
    },
    cycle(host, tokens) {
      let at = 0
      return () => {
        const item = waiting[at++ % waiting.length]
        return item && requestOf(path, host, tokens, item)
      }
    },
  }
}

/** A request to create what was made. */
export function requestOf(
  path: string,
  host: string,
  tokens: readonly string[],
  { sender, body, metadata: { package_id: packageId } }: MadePackage,
): Outgoing {
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens[sender] ?? ''}\r\n` +
    `Content-Type: application/json\r\nX-Correlation-ID: corr_${packageId}\r\n` +
    `Idempotency-Key: idem_${packageId}\r\nContent-Length: ${body.length}\r\n\r\n`
  return { head, body, packageId }
}
