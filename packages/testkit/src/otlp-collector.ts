import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A span as OTLP/JSON writes it. */
export interface ExportedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[]
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number }
}

interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ExportedSpan['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
  }[]
}

const WAIT_LIMIT_MS = 20_000
const POLL_MS = 10

/** A real OTLP/HTTP receiver on loopback. */
export async function startCollector(port = 0) {
  const bodies: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const held: ServerResponse[] = []
  const collector = {
    url: '',
    /** While true, no request is answered. */
    isHanging: false,
    status: 200,
    received: () => bodies.join('\n'),
    headers,
    requests: () => bodies.map((body) => JSON.parse(body) as ExportRequest),
    spans: () =>
      collector
        .requests()
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans),
    /** Waits for spans, which are exported once a second. */
    async until(isComplete: (spans: readonly ExportedSpan[]) => boolean): Promise<readonly ExportedSpan[]> {
      for (let waited = 0; waited < WAIT_LIMIT_MS; waited += POLL_MS) {
        const spans = collector.spans()
        if (isComplete(spans)) return spans
        await sleep(POLL_MS)
      }
      throw new Error(`the spans did not arrive: ${collector.received()}`)
    },
    answerHeld(): void {
      collector.isHanging = false
      held.splice(0).forEach(answer)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const answer = (response: ServerResponse) => {
    const body = collector.status === 200 ? '{}' : '{"message":"canary"}'
    response.writeHead(collector.status, { 'content-type': 'application/json' }).end(body)
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      bodies.push(Buffer.concat(parts).toString())
      headers.push(request.headers)
      if (collector.isHanging) held.push(response)
      else answer(response)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  collector.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return collector
}

export function attributesOf({ attributes }: Pick<ExportedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
