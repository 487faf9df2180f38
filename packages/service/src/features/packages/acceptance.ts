import type { Database, Transaction } from '../../db/database.ts'
import type { RecordedAnswer } from '../../db/idempotency.ts'
import { inTransaction } from '../../db/transaction.ts'
import { runClaimed } from '../../kernel/claimed-batch.ts'
import { createGroupCommit, type GroupCommit } from '../../kernel/group-commit.ts'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { pairName } from '../threads/store.ts'
import { decide } from './acceptance-decision.ts'
import { loadAcceptanceState, type AcceptanceState } from './acceptance-state.ts'
import { bytesOf, toAccepted, writeAccepted, type Accepted } from './acceptance-write.ts'
import { toPackageResource } from './store.ts'
import type { Submission } from './submission.ts'

const LANES = 2
const MAXIMUM_BATCH = 32
/** Small batches cost more for each package; for a full one, those would be missing whose clients wait for the first. */
const LEAST_BESIDE = 24
const MAXIMUM_QUEUE = 2_048
const ACCEPTED = 202

/** The one way into the exchange: submissions that arrive together share a transaction and a commit. */
export function createAcceptance(db: Database): GroupCommit<Submission, RecordedAnswer> {
  return createGroupCommit({
    lanes: LANES,
    maximumBatch: MAXIMUM_BATCH,
    leastBeside: LEAST_BESIDE,
    maximumQueue: MAXIMUM_QUEUE,
    commit: (submissions) =>
      inTransaction(db, (tx) =>
        runClaimed(tx, submissions, {
          read: () => loadAcceptanceState(tx, submissions),
          run: async (fresh, state) => acceptFresh(tx, fresh, state),
        }),
      ),
  })
}

function acceptFresh(
  tx: Transaction,
  submissions: readonly Submission[],
  state: AcceptanceState,
): (RecordedAnswer | Problem)[] {
  const outcomes = submissions.map((submission) => resultOrProblem(() => accept(submission, state)))
  const accepted = outcomes.flatMap((outcome) => (outcome instanceof Problem ? [] : [outcome]))
  if (accepted.length > 0) writeAccepted(tx, accepted, state)
  return outcomes.map((outcome) => (outcome instanceof Problem ? outcome : answerOf(outcome)))
}

function accept(submission: Submission, state: AcceptanceState): Accepted {
  const accepted = toAccepted(submission, decide(submission, state))
  buildOn(accepted, state)
  return accepted
}

/** The next submission of the batch is judged by a world that holds this one. */
function buildOn({ submission, row, decision, answered }: Accepted, state: AcceptanceState): void {
  const { thread, newPairs } = decision
  state.threads.set(row.thread_id, {
    ...thread,
    participants: new Set([...thread.participants, ...newPairs.map(([organization]) => organization)]),
    pairs: new Set([...thread.pairs, ...newPairs.map((pair) => pairName(...pair))]),
    packageCount: row.thread_position,
  })
  state.packages.set(row.package_id, row)
  if (answered) state.packages.set(answered.package_id, answered)
  const stored = state.storedBytes.get(row.sender_org_id) ?? 0
  state.storedBytes.set(row.sender_org_id, stored + bytesOf(submission))
}

function answerOf({ submission, row }: Accepted): RecordedAnswer {
  const { context, metadata } = submission
  const resource = toPackageResource({ ...row, state: 'accepted' }, context, row.sender_org_id, metadata)
  return { status: ACCEPTED, body: JSON.stringify(resource) }
}
