import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Queries } from '@agent-exchange/database'
import type { Clock } from '@agent-exchange/server/clock'
import { Problem } from './problem.ts'
import { readReplayState, type DatabaseIdentity, type WalPosition } from './wal-position.ts'

/** Where a read was served: by the replica, or by the primary because the replica could not. */
export type ReplicaResult = 'replica' | 'behind' | 'unavailable'

export interface ReadReplica {
  /** Runs the work on the replica if it has replayed the log up to this position, otherwise on the primary. */
  read<T>(position: WalPosition | undefined, work: (queries: Queries) => Promise<T>): Promise<T>
}

export interface ReadReplicaOptions {
  readonly primary: Queries
  readonly replica: Pick<Database, 'begin'>
  /** Of the primary. */
  readonly identity: DatabaseIdentity
  readonly clock: Clock
  readonly onRead: (result: ReplicaResult) => void
  /** Called when the result differs from that of the read before. */
  readonly onChange: (result: ReplicaResult, reason: string) => void
}

/** A streaming replica is usually a few milliseconds behind: waiting for it saves the primary the read. */
const REPLAY_POLLS = 10
const REPLAY_POLL_MS = 5
/** For the whole read on the replica, including the connection to it. */
const READ_LIMIT_MS = 2_000
/** How long reads skip the replica, so that they do not all wait for it. */
const PAUSE_MS = { behind: 500, unavailable: 5_000 }

class ReplicaBehind extends Error {}

export function createReadReplica(options: ReadReplicaOptions): ReadReplica {
  const { primary, replica, clock, onRead, onChange } = options
  let last: ReplicaResult = 'replica'
  let pausedUntil = 0
  const isPaused = () => clock.monotonicMilliseconds() < pausedUntil

  function note(result: ReplicaResult, reason = ''): void {
    onRead(result)
    // Such a read began before the pause: it says nothing about what ended the use of the replica.
    if (result === 'replica' && isPaused()) return
    if (result !== last) onChange(result, reason)
    last = result
    if (result !== 'replica') pausedUntil = clock.monotonicMilliseconds() + PAUSE_MS[result]
  }

  return {
    async read(position, work) {
      if (position === undefined) return work(primary)
      if (isPaused()) {
        onRead(last)
        return work(primary)
      }
      try {
        const attempt = replica.begin(async (tx) => {
          // The check and the reads need the same session: others may lead to another server.
          await waitForReplay(tx, position, options)
          return work(tx)
        })
        const result = await withinLimit(attempt)
        note('replica')
        return result
      } catch (error) {
        if (error instanceof Problem) {
          // The answer to the caller, not a failure of the replica.
          note('replica')
          throw error
        }
        note(
          error instanceof ReplicaBehind ? 'behind' : 'unavailable',
          error instanceof Error ? error.message : String(error),
        )
        return work(primary)
      }
    },
  }
}

async function waitForReplay(
  queries: Queries,
  position: WalPosition,
  { identity }: ReadReplicaOptions,
): Promise<void> {
  for (let poll = 0; poll < REPLAY_POLLS; poll++) {
    if (poll > 0) await sleep(REPLAY_POLL_MS)
    const { hasReplayed, system, name } = await readReplayState(queries, position)
    if (system !== identity.system || name !== identity.name)
      throw new Error('AEX_DATABASE_READ_URL leads to another database than DATABASE_URL')
    if (hasReplayed) return
  }
  throw new ReplicaBehind('it has not replayed the latest commits of the primary')
}

/** The attempt that was given up ends by its own limits: those of the pool and of its statements. */
async function withinLimit<T>(attempt: Promise<T>): Promise<T> {
  attempt.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`it did not answer within ${READ_LIMIT_MS} ms`)),
    READ_LIMIT_MS,
  )
  return Promise.race([attempt, late.promise]).finally(() => clearTimeout(timer))
}
