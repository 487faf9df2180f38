import { Worker } from 'node:worker_threads'
import type { Organization } from '@agent-exchange/testkit'

/** Raw connections of one kind. Each comes back some time after the exchange has closed it. */
export interface HostileClients {
  readonly port: number
  readonly connections: number
  readonly againMs: number
  /** What each connection sends: the text, then so many spaces, then so many chunks of one byte. */
  readonly head: string
  readonly spaces?: number
  readonly byteChunks?: number
  readonly isReading: boolean
}

/** Runs them in a thread of its own, so that they do not slow down whoever measures. */
export function startHostileClients(clients: readonly HostileClients[]): AsyncDisposable {
  const worker = new Worker(new URL('./hostile-client-worker.ts', import.meta.url), { workerData: clients })
  return {
    async [Symbol.asyncDispose]() {
      await worker.terminate()
    },
  }
}

/** The header section of a package. */
export async function packageHead(by: Organization, framing: string): Promise<string> {
  return [
    'POST /v1/packages HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${await by.token()}`,
    'X-Correlation-ID: hostile',
    'Idempotency-Key: hostile',
    'Content-Type: application/json',
    framing,
    '\r\n',
  ].join('\r\n')
}
