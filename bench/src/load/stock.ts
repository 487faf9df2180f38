import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Outgoing } from './connection.ts'
import type { MadePackage } from './package-maker.ts'

/** So many are made while the database is told of those before. */
const MADE_AT_ONCE = 500

export interface StockSettings {
  readonly path: string
  readonly make: () => Promise<MadePackage>
  /** What has to be true before one can be sent. */
  readonly prepare?: (packages: readonly PackageMetadata[]) => Promise<void>
}

/** Requests that were made before the clock starts. */
export function createStock({ path, make, prepare }: StockSettings) {
  const waiting: MadePackage[] = []

  async function makeSome(count: number): Promise<MadePackage[]> {
    const made: MadePackage[] = []
    while (made.length < count) made.push(await make())
    return made
  }

  async function store(made: readonly MadePackage[]): Promise<void> {
    if (made.length > 0) await prepare?.(made.map(({ metadata }) => metadata))
    waiting.push(...made)
  }

  return {
    /** Makes as many as are missing. */
    async fill(count: number): Promise<void> {
      let made: readonly MadePackage[] = []
      do {
        const missing = count - waiting.length - made.length
        ;[made] = await Promise.all([makeSome(Math.min(missing, MADE_AT_ONCE)), store(made)])
      } while (made.length > 0)
    },
    /** Each is sent once. */
    take: (host: string, tokens: readonly string[]) => (): Outgoing | undefined => {
      const item = waiting.pop()
      return item && post(path, host, tokens[item.sender] ?? '', item)
    },
    /** For a server that remembers nothing: the same ones again and again. */
    cycle: (host: string, tokens: readonly string[]) => {
      let at = 0
      return (): Outgoing | undefined => {
        const item = waiting[at++ % waiting.length]
        return item && post(path, host, tokens[item.sender] ?? '', item)
      }
    },
  }
}

export type Stock = ReturnType<typeof createStock>

function post(path: string, host: string, token: string, { body, metadata }: MadePackage): Outgoing {
  const head =
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Type: application/json\r\nX-Correlation-ID: corr_${metadata.package_id}\r\n` +
    `Idempotency-Key: idem_${metadata.package_id}\r\nContent-Length: ${body.length}\r\n\r\n`
  return { head, body }
}
