import { createHash } from 'node:crypto'
import type { Writable } from 'node:stream'
import { createEventStream, type EventStream } from './event-stream.ts'

export interface LiveStreamsOptions {
  readonly onFailure: (error: unknown) => void
  readonly pollMs: number
  /** Each stream is a connection of a signed-in browser. */
  readonly maximumStreams: number
}

/** What a page shows, for its event stream. */
export interface LiveContent {
  /** Streams of one topic share a read. */
  readonly topic: string
  /** What the page shows, or a cheap summary of it. A difference means that something is new. */
  readonly read: () => Promise<object>
  /** Fingerprint of what the page was made from. Without it, changes before the first read are missed. */
  readonly seen?: string | undefined
  /** Asked at each poll, for each stream: false ends it, for example because its session has ended. */
  readonly isPermitted?: () => Promise<boolean>
}

/** Event streams for live regions: the event `changed` is sent whenever a page has something new to show. */
export interface LiveStreams {
  readonly hasRoom: boolean
  add(output: Writable, content: LiveContent): void
  close(): void
}

interface Watcher extends Pick<LiveContent, 'topic' | 'read' | 'isPermitted'> {
  readonly stream: EventStream
  seen: string | undefined
}

/** One poll serves all open streams and reads one topic at a time. Without an open stream nothing is read. */
export function createLiveStreams(options: LiveStreamsOptions): LiveStreams {
  const { onFailure, pollMs, maximumStreams } = options
  const watchers = new Set<Watcher>()
  /** Also set while a poll is running. */
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function poll(): Promise<void> {
    await endRefused()
    if (isClosed) return
    for (const group of Map.groupBy(watchers, ({ topic }) => topic).values()) {
      const found = await read(group)
      if (isClosed) return
      for (const watcher of group) if (!update(watcher, found)) watchers.delete(watcher)
    }
    timer = watchers.size === 0 ? undefined : setTimeout(() => void poll(), pollMs).unref()
  }

  /** A check that fails ends nothing: a stream only says that something has changed, and the page needs a session. */
  async function endRefused(): Promise<void> {
    for (const watcher of watchers) {
      try {
        if (!watcher.isPermitted || (await watcher.isPermitted())) continue
        watcher.stream.close()
        watchers.delete(watcher)
      } catch (error) {
        if (!isClosed) onFailure(error)
      }
      if (isClosed) return
    }
  }

  /** Undefined if the read fails. The next poll tries again. */
  async function read([first]: readonly Watcher[]): Promise<string | undefined> {
    try {
      return first && fingerprint(await first.read())
    } catch (error) {
      if (!isClosed) onFailure(error)
      return undefined
    }
  }

  return {
    get hasRoom() {
      return !isClosed && watchers.size < maximumStreams
    },
    add(output, { topic, read: readTopic, seen, isPermitted }) {
      const watcher: Watcher = {
        topic,
        read: readTopic,
        seen,
        stream: createEventStream(output),
        ...(isPermitted && { isPermitted }),
      }
      watchers.add(watcher)
      output.once('close', () => watchers.delete(watcher))
      timer ??= setTimeout(() => void poll(), 0).unref()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const { stream } of watchers) stream.close()
      watchers.clear()
    },
  }
}

/** Sends `changed` if the content differs from what the page shows. False if the stream has ended. */
function update(watcher: Watcher, found: string | undefined): boolean {
  const { stream, seen } = watcher
  if (!stream.isOpen) return false
  if (found === undefined || found === seen) return true
  watcher.seen = found
  return seen === undefined || stream.send({ event: 'changed', data: '' })
}

/** Equal for equal content. */
export function fingerprint(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url')
}
