/** Well below the time that a supervisor waits for a sign of life. */
export const HEARTBEAT_MS = 10_000

/** Calls `beat` at an interval until the work has ended. */
export async function withHeartbeat<T>(work: Promise<T>, beat: () => void): Promise<T> {
  const timer = setInterval(beat, HEARTBEAT_MS)
  try {
    return await work
  } finally {
    clearInterval(timer)
  }
}
