import type { PackageResource } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { pairName } from '../threads/store.ts'
import { decide } from './acceptance-decision.ts'
import { loadAcceptanceState, type AcceptanceState } from './acceptance-state.ts'
import { usageOn } from '../organizations/usage-store.ts'
import { sentBy } from './daily-quotas.ts'
import { bytesOf, toAccepted, writeAccepted, type Accepted } from './acceptance-write.ts'
import { bodySchema } from './package-body.ts'
import { toPackageResource } from './package-resource.ts'
import { readSubmission, type Submission } from './submission.ts'

interface SubmittedCall {
  readonly found: Submission
}

/** PKG-01 to PKG-06 and PKG-09: both operations that submit a package. They share batches: a response may answer a package of its own batch. */
export const packageSubmission = {
  queue: 'packages' as const,
  schemaOf: bodySchema,
  authorize: readSubmission,
  contentHash: (_call: unknown, { contentHash }: Submission) => contentHash,
  /** Small batches cost more per package. A full batch would wait for clients that the running batch has not answered. */
  minConcurrentBatch: 24,
  readBatch: (calls: readonly SubmittedCall[], tx: Transaction) =>
    loadAcceptanceState(
      tx,
      calls.map(({ found }) => found),
    ),
  runBatch: async (calls: readonly SubmittedCall[], tx: Transaction, state: AcceptanceState) => {
    const outcomes = calls.map(({ found }) => resultOrProblem(() => accept(found, state)))
    const accepted = outcomes.flatMap((outcome) => (outcome instanceof Problem ? [] : [outcome]))
    if (accepted.length > 0) writeAccepted(tx, accepted, state)
    return outcomes.map((outcome) => (outcome instanceof Problem ? outcome : toResource(outcome)))
  },
}

function accept(submission: Submission, state: AcceptanceState): Accepted {
  const accepted = toAccepted(submission, decide(submission, state))
  applyToState(accepted, state)
  return accepted
}

/** The next submission of the batch is decided on a state that includes this one. */
function applyToState({ submission, row, decision, answered }: Accepted, state: AcceptanceState): void {
  const { thread, newPairs } = decision
  state.threads.set(row.thread_id, {
    ...thread,
    participants: new Set([...thread.participants, ...newPairs.map(([organization]) => organization)]),
    pairs: new Set([...thread.pairs, ...newPairs.map((pair) => pairName(...pair))]),
    packageCount: row.thread_position,
  })
  state.packages.set(row.package_id, row)
  if (answered?.moved) state.packages.set(answered.moved.package_id, answered.moved)
  const stored = state.storedBytes.get(row.sender_org_id) ?? 0
  state.storedBytes.set(row.sender_org_id, stored + bytesOf(submission))
  const sent = sentBy(submission, decision)
  const before = usageOn(sent.day, state.sentOfDay.get(row.sender_org_id))
  state.sentOfDay.set(row.sender_org_id, {
    ...before,
    packages_of_day: before.packages_of_day + sent.packages,
    threads_of_day: before.threads_of_day + sent.threads,
  })
}

function toResource({ submission, row }: Accepted): PackageResource {
  const { context, metadata } = submission
  return toPackageResource({ ...row, state: 'accepted' }, context, row.sender_org_id, metadata)
}
