import { createLiveStreams, type LiveStreams } from '@agent-exchange/web'
import { Problem } from '../kernel/problem.ts'

const POLL_MS = 3_000
/** Streams of one process. Each is a connection of a signed-in browser. */
const MAXIMUM_STREAMS = 64

export interface LiveEvents extends Pick<LiveStreams, 'add' | 'close'> {
  requireRoom(): void
}

export function createLiveEvents(onFailure: (error: unknown) => void): LiveEvents {
  const streams = createLiveStreams({ onFailure, pollMs: POLL_MS, maximumStreams: MAXIMUM_STREAMS })
  return {
    add: streams.add,
    close: streams.close,
    requireRoom() {
      if (!streams.hasRoom) throw new Problem('rate_limited', { retry_after_seconds: 60 })
    },
  }
}
