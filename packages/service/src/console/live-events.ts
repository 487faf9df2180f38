import { createHash } from 'node:crypto'
import { createEventStream, type EventStream } from '@agent-exchange/web'
import type { Writable } from 'node:stream'
import { Problem } from '../kernel/problem.ts'

export const EVENTS_PATH = '/events'
const POLL_MS = 3_000
/** Streams of one process. Each is a connection of a signed-in browser. */
const MAXIMUM_STREAMS = 64

export interface LiveEvents {
  /** The event `changed` follows whenever something new is to be seen. */
  add(output: Writable): void
  requireRoom(): void
  close(): void
}

/** One poll for all open streams: while nobody looks, nothing is read. */
export function createLiveEvents(
  read: () => Promise<object>,
  onFailure: (error: unknown) => void,
): LiveEvents {
  const streams = new Set<EventStream>()
  let timer: NodeJS.Timeout | undefined
  let latest: string | undefined

  async function poll(): Promise<void> {
    const next = await read().then(fingerprint, (error: unknown) => {
      onFailure(error)
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
    else timer = setTimeout(() => void poll(), POLL_MS).unref()
  }

  return {
    requireRoom() {
      if (streams.size >= MAXIMUM_STREAMS) throw new Problem('rate_limited', { retry_after_seconds: 60 })
    },
    add(output) {
      const stream = createEventStream(output)
      streams.add(stream)
      output.once('close', () => streams.delete(stream))
      timer ??= setTimeout(() => void poll(), 0).unref()
    },
    close() {
      clearTimeout(timer)
      for (const stream of streams) stream.close()
      streams.clear()
    },
  }
}

function fingerprint(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url')
}
