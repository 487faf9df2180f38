import type { LoggedRecord } from '@agent-exchange/protocol'
import { pause } from '../pause-and-backoff.ts'
import type { AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import type { KeyEventOfAgent, PendingLeaf } from './logged-leaves.ts'

/** How long to wait for the log by default; the default profile promises inclusion within 60 s. */
const DEFAULT_WAIT_MS = 75_000
/** At least so long where nothing holds without it: checkpoints come every ten seconds by default. */
const NEEDED_WAIT_MS = 30_000
const POLL_MS = 1_000

export interface WaitForLog {
  /** How long to wait until the log includes everything; 0 takes what is there. */
  readonly waitMs?: number
  /** Called before each pause with what is still a promise. */
  readonly onWait?: (pending: readonly PendingLeaf[]) => void
  readonly signal?: AbortSignal
}

/** The leaves of some evidence as the exchange lists them, and the newest checkpoint. */
export interface Logged {
  readonly records: readonly LoggedRecord[]
  readonly events: readonly KeyEventOfAgent[]
  readonly pending: readonly PendingLeaf[]
  readonly checkpoint: AcceptedCheckpoint | undefined
}

/** Reads until nothing is pending, or until the time is over. What is `needed` gets more time. */
export async function waitForLog(
  read: () => Promise<Logged>,
  { waitMs = DEFAULT_WAIT_MS, onWait, signal }: WaitForLog,
  needed: 'nothing' | 'key_events' = 'nothing',
): Promise<Logged> {
  const start = Date.now()
  for (;;) {
    const logged = await read()
    const isNeeded = needed === 'key_events' && logged.pending.some(({ what }) => what === 'key_event')
    const limit = isNeeded ? Math.max(waitMs, NEEDED_WAIT_MS) : waitMs
    const isOver = Date.now() - start >= limit || signal?.aborted === true
    if (logged.pending.length === 0 || isOver) return logged
    onWait?.(logged.pending)
    await pause(POLL_MS, signal)
  }
}
