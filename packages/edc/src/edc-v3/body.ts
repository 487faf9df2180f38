import type { Readable } from 'node:stream'
import { ConnectorError, type ConnectorCircumstances } from '../connector-error.ts'

/** Discards the rest of a body, and ignores the error that its stream emits. */
export function stopReading(body: Readable): void {
  body.on('error', () => undefined)
  body.destroy()
}

/** Reads a body up to a limit, and stops reading there. */
export async function readAtMost(body: Readable, limit: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of body as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > limit) {
      stopReading(body)
      throw new ConnectorError('too_large', { what: `The answer has more than ${limit} bytes.` })
    }
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** Maps errors of undici and of sockets, without their messages. */
export function networkFailure(
  error: unknown,
  where: string,
  { aborted, timedOut, begun = false }: { aborted: boolean; timedOut: boolean; begun?: boolean },
): ConnectorError {
  if (error instanceof ConnectorError) return error
  const circumstances: ConnectorCircumstances = { outcomeUnknown: true, cause: causeOf(error) }
  if (aborted) return new ConnectorError('aborted', circumstances)
  const answer = begun ? 'truncated' : 'unreachable'
  const what = timedOut ? `${where} got no full answer in time.` : `${where} got no full answer.`
  return new ConnectorError(timedOut && begun ? 'timeout' : answer, { ...circumstances, what })
}

/** Keeps the code only (`ECONNREFUSED`, `UND_ERR_SOCKET`): messages may contain headers. */
function causeOf(error: unknown): Error {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
  return new Error(code)
}
