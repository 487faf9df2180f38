import { RECEIVE_LIMITS } from './receive-limits.ts'

export type BodyFailure = 'too_large' | 'too_slow' | 'broken_off'

export interface BodyLimits {
  readonly maximumBytes?: number
  readonly timeoutMs?: number
}

/** The exact bytes of a body, or why they were refused. Stops reading at a limit. */
export async function readBody(
  request: Request,
  { maximumBytes = RECEIVE_LIMITS.webhookBytes, timeoutMs = RECEIVE_LIMITS.webhookBodyMs }: BodyLimits = {},
): Promise<Uint8Array | BodyFailure> {
  if (Number(request.headers.get('content-length')) > maximumBytes) return 'too_large'
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<'too_slow'>((resolve) => {
    timer = setTimeout(() => resolve('too_slow'), timeoutMs)
  })
  const result = await Promise.race([readAll(reader, maximumBytes), timeout])
  clearTimeout(timer)
  if (typeof result === 'string') reader.cancel().catch(() => undefined)
  return result
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maximumBytes: number,
): Promise<Uint8Array | BodyFailure> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return joined(chunks, length)
      length += value.length
      if (length > maximumBytes) return 'too_large'
      chunks.push(value)
    }
  } catch {
    return 'broken_off'
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
