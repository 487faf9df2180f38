import { pause } from '@agent-exchange/sdk/internal'

/** Part of its time in which background work runs. */
const SHARE = 0.1
/** Work that goes on without a rest. */
const STEP_MS = 5
const LONGEST_REST_MS = 1_000

/** Background work was ended between two steps. */
export class BackgroundWorkEnded extends Error {
  override readonly name = 'BackgroundWorkEnded'
}

/**
 * For work that takes minutes of a processor, between whose steps it is awaited. It rests nine times as long as it worked,
 * so that requests and events do not wait for it.
 *
 * @throws {BackgroundWorkEnded} if the work has to end
 */
export function backgroundPace(mustEnd: () => boolean, signal: AbortSignal): () => Promise<void> {
  let since = performance.now()
  return async () => {
    const worked = performance.now() - since
    if (worked < STEP_MS) return
    await pause(Math.min(worked * (1 / SHARE - 1), LONGEST_REST_MS), signal)
    if (signal.aborted || mustEnd()) throw new BackgroundWorkEnded()
    since = performance.now()
  }
}
