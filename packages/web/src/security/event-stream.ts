import type { Writable } from 'node:stream'

export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
} as const

export interface EventStreamLimits {
  /** Comments at this interval keep proxies from closing a quiet stream, and find clients that are gone. */
  readonly heartbeatMs: number
  /** A client that reads too slowly loses its stream at this size, instead of filling our memory. */
  readonly maximumBufferedBytes: number
  /** The stream ends after this time; browsers reconnect, and the session is checked again. */
  readonly maximumDurationMs: number
}

export const DEFAULT_EVENT_STREAM_LIMITS: EventStreamLimits = {
  heartbeatMs: 15_000,
  maximumBufferedBytes: 64 * 1024,
  maximumDurationMs: 15 * 60_000,
}

export interface ServerEvent {
  readonly event: string
  readonly data: string
  readonly id?: string
}

const RECONNECT_MS = 3_000
const ONE_LINE = /^[^\r\n\0]*$/u

/** Server-sent events (WHATWG HTML, section 9.2) over an answer whose head was sent already. */
export function createEventStream(
  output: Writable,
  limits: EventStreamLimits = DEFAULT_EVENT_STREAM_LIMITS,
): EventStream {
  const heartbeat = setInterval(() => write(':\n\n'), limits.heartbeatMs)
  const end = setTimeout(() => output.end(), limits.maximumDurationMs)
  const stop = () => {
    clearInterval(heartbeat)
    clearTimeout(end)
  }
  for (const timer of [heartbeat, end]) timer.unref()
  for (const name of ['close', 'finish', 'error'] as const) output.once(name, stop)
  write(`retry: ${RECONNECT_MS}\n\n`)
  return {
    send: (event) => write(frameOf(event)),
    close: () => output.end(),
    get isOpen() {
      return isOpen()
    },
  }

  // `writable` of an HTTP answer stays true after its end.
  function isOpen(): boolean {
    return !output.writableEnded && !output.destroyed
  }

  function write(frame: string): boolean {
    if (!isOpen()) return false
    if (output.writableLength + Buffer.byteLength(frame) > limits.maximumBufferedBytes) {
      output.destroy()
      return false
    }
    output.write(frame)
    return true
  }
}

export interface EventStream {
  /** False where the client is gone, or was disconnected because it reads too slowly. */
  send(event: ServerEvent): boolean
  close(): void
  readonly isOpen: boolean
}

/** A line break in a name or an id would start a field of its own; in data it starts another data line. */
function frameOf({ event, data, id }: ServerEvent): string {
  if (!ONE_LINE.test(event) || !ONE_LINE.test(id ?? ''))
    throw new TypeError('an event name or id has a line break')
  const lines = data.split(/\r\n|\r|\n/u).map((line) => `data: ${line}\n`)
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\n${lines.join('')}\n`
}
