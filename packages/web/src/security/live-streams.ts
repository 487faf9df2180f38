import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import { createEventStream, type EventStream } from './event-stream.ts'

export interface LiveStreamsOptions {
  /** What the pages show, or a cheap summary of it. A difference means that something is new. */
  readonly read: () => Promise<object>
  readonly onFailure: (error: unknown) => void
  readonly pollMs: number
  /** Each stream is a connection of a signed-in browser. */
  readonly maximumStreams: number
}

/** Event streams for live regions: the event `changed` follows whenever something new is to be seen. */
export interface LiveStreams {
  readonly hasRoom: boolean
  add(output: Writable): void
  close(): void
}

/** One poll serves all open streams. Without an open stream nothing is read. */
export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { read, onFailure, pollMs, maximumStreams } = options
  const streams = new Set<EventStream>()
  let timer: NodeJS.Timeout | undefined
  let latest: string | undefined
  let isClosed = false

  async function poll(): Promise<void> {
    const next = await read().then(fingerprint, (error: unknown) => {
      if (!isClosed) onFailure(error)
      return latest
    })
    const isNew = latest !== undefined && next !== latest
    latest = next
    for (const stream of streams) {
      if (!stream.isOpen || (isNew && !stream.send({ event: 'changed', data: '' }))) streams.delete(stream)
    }
    schedule()
  }

  function schedule(): void {
    timer = undefined
    if (streams.size === 0) latest = undefined
    else timer = setTimeout(() => void poll(), pollMs).unref()
  }

  return {
    get hasRoom() {
      return !isClosed && streams.size < maximumStreams
    },
    add(output) {
      const stream = createEventStream(output)
      streams.add(stream)
      output.once('close', () => streams.delete(stream))
      timer ??= setTimeout(() => void poll(), 0).unref()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const stream of streams) stream.close()
      streams.clear()
    },
  }
}

function fingerprint(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url')
}
