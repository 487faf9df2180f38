import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Outgoing } from './connection.ts'
import type { MadePackage } from './package-maker.ts'

/** Signing goes to every core, so a few are made at a time. */
const MADE_AT_ONCE = 16

export interface StockSettings {
  readonly path: string
  readonly make: () => Promise<MadePackage>
  /** What has to be true before one can be sent. */
  readonly prepare?: (packages: readonly PackageMetadata[]) => Promise<void>
}

/** Requests that were made before the clock starts. */
export function createStock({ path, make, prepare }: StockSettings) {
  const waiting: MadePackage[] = []
  return {
    /** Makes as many as are missing. */
    async fill(count: number): Promise<void> {
      const added: MadePackage[] = []
      while (waiting.length + added.length < count) {
        added.push(...(await Promise.all(Array.from({ length: MADE_AT_ONCE }, make))))
      }
      await prepare?.(added.map(({ metadata }) => metadata))
      for (const made of added) waiting.push(made)
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
