import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import { freeNames } from '../../kernel/named-locks.ts'
import { latestPublished } from './checkpoint-store.ts'
import type { Damage } from './damage.ts'
import { readLogState, type Refusal } from './log-state-store.ts'
import { readWaiting } from '../../kernel/log-pending-store.ts'
import { SEQUENCER_LOCK } from './sequencer-lock.ts'
import { listWitnesses } from './witness-store.ts'

const RECOVER =
  'Run `aex log recover --mirror URL|FOLDER --reason TEXT` with a complete copy of the log; if there is none, start a new log with `aex log recover --new-origin NAME --reason TEXT`. Packages are accepted meanwhile.'

const REPAIR =
  'A stored tile does not give the signed tree, so agents get no proofs that need it. Restore the rows of log_tile from a backup. Every process notices within seconds.'

/** What an operator does about each reason. */
const ADVICE: Readonly<Record<Refusal['reason'], string>> = {
  behind_checkpoint_file: `The database is older than the last checkpoint that this machine signed, as after a restore. ${RECOVER}`,
  fork_of_checkpoint_file: `The tree in the database contradicts the last checkpoint that this machine signed. Restore the right database. ${RECOVER}`,
  other_origin:
    'This machine has signed under a later origin, so the database is older than that change, or AEX_DATA_DIR belongs to another exchange. Use the right ones.',
  behind_witness: `A witness has cosigned a larger tree than the one in the database, as after a restore. If the witness errs, take it out of AEX_WITNESS_POLICY. ${RECOVER}`,
  fork_of_witness: `A witness has cosigned another tree of this log. Restore the database that the witness has seen. If the witness errs, take it out of AEX_WITNESS_POLICY. ${RECOVER}`,
  tiles_damaged:
    'The stored tiles do not give the stored root. Restore the database from a backup, then start again.',
  witnesses_unreachable:
    'This machine has no checkpoint file and no witness answers, so nobody can tell whether the database is current. Make a witness reachable.',
}

export type LogStatus = Awaited<ReturnType<typeof readLogStatus>>

/** The state of the log for an operator, from any process. */
export async function readLogStatus(db: Database, profile: DeploymentProfile) {
  // In this order: a leaf that no longer waits is counted in the size that is read next.
  const waiting = await readWaiting(db)
  const state = await readLogState(db)
  const [published, witnesses, free] = await Promise.all([
    latestPublished(db),
    listWitnesses(db),
    freeNames(db, 'worker', [SEQUENCER_LOCK]),
  ])
  const damage = state.damage === null ? undefined : (JSON.parse(state.damage) as Damage)
  const refusal = state.refusal === null ? undefined : (JSON.parse(state.refusal) as Refusal)
  // Leaves in the tree that no checkpoint covers are as late as leaves that wait for the tree.
  const oldest = Math.max(waiting.seconds, state.unpublished_seconds)
  const maximum = profile['O-07'].transparency_maximum_delay_seconds
  const isBehind = free.length > 0 || oldest > maximum
  return {
    origin: state.origin,
    state: refusal ? 'refusing' : damage ? 'damaged' : isBehind ? 'behind' : 'running',
    ...(damage && { damage }),
    ...(refusal && { refusal, what_to_do: ADVICE[refusal.reason] }),
    ...(!refusal && damage && { what_to_do: REPAIR }),
    ...(!refusal &&
      !damage &&
      isBehind && {
        what_to_do:
          free.length > 0
            ? 'No process sequences the log: start one with AEX_ROLE=all or worker.'
            : `Records wait longer than ${maximum} seconds: see the log of the process that sequences.`,
      }),
    size: state.size,
    published_size: published?.size ?? 0,
    last_checkpoint_at: published?.published_at ?? null,
    pending_leaves: waiting.leaves,
    oldest_pending_seconds: oldest,
    backfilled: state.is_backfilled,
    sequencer: free.length > 0 ? null : state.holder,
    witnesses: witnesses.map(({ name, outcome, size, cosigned_at, tried_at }) => ({
      name,
      outcome,
      size,
      cosigned_at,
      tried_at,
    })),
  }
}
