import { setTimeout as sleep } from 'node:timers/promises'
import type { TreeEdge } from '@agent-exchange/log'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Logger } from 'pino'
import { loggableError } from '@agent-exchange/database'
import { appendPending } from './append-to-tree.ts'
import { backfillStep } from './backfill.ts'
import { checkContinuation } from './check-continuation.ts'
import { followCheckpoints } from './follow-checkpoints.ts'
import { holdWorkerName } from '../../kernel/worker-lock.ts'
import { reportRefusal, reportStart, type Refusal } from './log-state-store.ts'
import { latestPublished } from './checkpoint-store.ts'
import { forgetWitnesses } from './witness-store.ts'
import { SEQUENCER_LOCK } from './sequencer-lock.ts'
import { signCheckpoint, type SigningTools } from './sign-checkpoint.ts'

/** Pause after a failure, and at least between two checks while signing is refused. */
const RETRY_MS = 1_000
/** Steps of 200 transactions before the next checkpoint may be due. */
const STEPS_PER_ROUND = 20

export interface SequencerSettings extends SigningTools {
  readonly profile: DeploymentProfile
  readonly log: Logger
  /** Names this process to operators. */
  readonly holder: string
}

const doNothing = () => undefined as void

/** Appends waiting leaves and signs checkpoints, in one process at a time. Disposal waits for the step under way. */
export function startSequencer(settings: SequencerSettings): AsyncDisposable {
  const { db } = settings
  const checkpointMs = settings.profile['O-07'].transparency_checkpoint_milliseconds
  const stop = new AbortController()
  let wake = doNothing
  let isHeld = false
  holdWorkerName(db, SEQUENCER_LOCK, (held) => {
    isHeld = held
    wake()
  })
  const pause = (milliseconds: number) =>
    sleep(milliseconds, undefined, { signal: stop.signal, ref: false }).catch(() => undefined)

  let announced: string | undefined
  /** Said once, although the reason is examined again and again. */
  const onRefusal = (refusal: Refusal | undefined) => {
    if (refusal && refusal.reason !== announced)
      settings.log.error(refusal, 'the transparency log refuses to sign; see aex log status')
    announced = refusal?.reason
    settings.metrics.onRefusal(refusal !== undefined)
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        if (!isHeld) {
          const isTaken = new Promise<void>((resolve) => (wake = resolve))
          await followCheckpoints(db, settings.file)
          if (!isHeld) await Promise.race([isTaken, pause(checkpointMs)])
          continue
        }
        await work(settings, { isActive: () => isHeld && !stop.signal.aborted, pause, onRefusal })
      } catch (error) {
        settings.log.error({ err: loggableError(error) }, 'the transparency log sequencer failed')
      }
      await pause(announced === undefined ? RETRY_MS : Math.max(RETRY_MS, checkpointMs))
    }
  }

  const running = run()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      wake()
      await running
    },
  }
}

interface Pace {
  readonly isActive: () => boolean
  readonly pause: (milliseconds: number) => Promise<void>
  readonly onRefusal: (refusal: Refusal | undefined) => void
}

/** From taking the lock until it is lost, signing is refused, or something fails. */
async function work(settings: SequencerSettings, { isActive, pause, onRefusal }: Pace): Promise<void> {
  const { db, clock, file, witnesses, keys, profile, holder, log } = settings
  const { transparency_sequence_milliseconds, transparency_checkpoint_milliseconds } = profile['O-07']
  await forgetWitnesses(
    db,
    witnesses.map(({ name }) => name),
  )
  const start = await checkContinuation({
    db,
    file,
    witnesses,
    signers: await keys.signers(),
    now: clock.now(),
  })
  await reportStart(db, { holder, refusal: start.refusal, now: clock.now() })
  onRefusal(start.refusal)
  if (start.isUnguarded)
    log.warn(
      'this machine has no record of earlier checkpoints and there is no witness: a database that was restored from an older copy would go unnoticed',
    )
  if (start.refusal || !start.edge) return
  let edge = await backfill(settings, start.edge, start.state, isActive)
  let published = (await latestPublished(db))?.size ?? 0
  let isDue = true
  while (isActive()) {
    edge = await appendAll(settings, edge, isActive)
    if (isDue && isActive() && edge.size > published) {
      const refusal = await signCheckpoint(settings, edge)
      if (refusal) {
        if (await reportRefusal(db, { holder, refusal, now: clock.now() })) onRefusal(refusal)
        return
      }
      published = edge.size
      isDue = false
      setTimeout(() => (isDue = true), transparency_checkpoint_milliseconds).unref()
    }
    await pause(transparency_sequence_milliseconds)
  }
}

async function backfill(
  { db }: SequencerSettings,
  first: TreeEdge,
  state: { readonly is_backfilled: boolean; readonly backfilled_through: string | null },
  isActive: () => boolean,
): Promise<TreeEdge> {
  let [edge, through, isDone] = [first, state.backfilled_through, state.is_backfilled]
  while (!isDone && isActive()) ({ edge, through, isDone } = await backfillStep(db, edge, through))
  return edge
}

async function appendAll(
  { db }: SequencerSettings,
  first: TreeEdge,
  isActive: () => boolean,
): Promise<TreeEdge> {
  let edge = first
  for (let step = 0; step < STEPS_PER_ROUND && isActive(); step++) {
    const next = await appendPending(db, edge)
    if (next === edge) break
    edge = next
  }
  return edge
}
