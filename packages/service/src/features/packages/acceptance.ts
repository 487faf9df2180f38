import type { Database, Transaction } from '../../db/database.ts'
import {
  claimName,
  findRecords,
  insertRecords,
  type Claim,
  type RecordedAnswer,
} from '../../db/idempotency.ts'
import { lockNames, tryNames } from '../../db/locks.ts'
import { inTransaction } from '../../db/transaction.ts'
import { createGroupCommit, type BatchResult, type GroupCommit } from '../../kernel/group-commit.ts'
import { idempotencyScope, sameContent } from '../../kernel/idempotency.ts'
import { Problem } from '../../kernel/problem.ts'
import { decide } from './acceptance-decision.ts'
import { loadAcceptanceState, type AcceptanceState } from './acceptance-state.ts'
import { toAccepted, writeAccepted, type Accepted } from './acceptance-write.ts'
import { toPackageResource } from './store.ts'
import type { Submission } from './submission.ts'

const LANES = 2
const MAXIMUM_BATCH = 32
const MAXIMUM_QUEUE = 2_048
const ACCEPTED = 202

/** The one way into the exchange: submissions that arrive together share a transaction and a commit. */
export function createAcceptance(db: Database): GroupCommit<Submission, RecordedAnswer> {
  return createGroupCommit({
    lanes: LANES,
    maximumBatch: MAXIMUM_BATCH,
    maximumQueue: MAXIMUM_QUEUE,
    commit: (submissions) => inTransaction(db, (tx) => acceptBatch(tx, submissions)),
  })
}

type Result = BatchResult<RecordedAnswer>

async function acceptBatch(tx: Transaction, submissions: readonly Submission[]): Promise<Result[]> {
  const results = new Map<Submission, Result>()
  await claim(tx, submissions, results)
  const fresh = submissions.filter((submission) => !results.has(submission))
  if (fresh.length > 0) await acceptFresh(tx, fresh, results)
  return submissions.map((submission) => results.get(submission) ?? 'alone')
}

/** API-04, API-05: repeats get the recorded answer; what somebody else is working on is put off. */
async function claim(tx: Transaction, submissions: readonly Submission[], results: Map<Submission, Result>) {
  const names = submissions.map((submission) => claimName(claimOf(submission)))
  let held = new Set<string>()
  if (submissions.length === 1) await lockNames(tx, 'claim', names)
  else held = await tryNames(tx, 'claim', names)

  const records = await findRecords(tx, submissions.map(claimOf))
  const seen = new Set<string>()
  submissions.forEach((submission, index) => {
    const name = names[index] ?? ''
    const record = records.get(name)
    if (held.has(name) || seen.has(name)) results.set(submission, 'alone')
    else if (record) results.set(submission, answerAgain(record, submission))
    seen.add(name)
  })
}

function answerAgain(record: RecordedAnswer & { contentHash: Uint8Array }, submission: Submission): Result {
  return sameContent(record.contentHash, submission.contentHash)
    ? { done: record }
    : { failed: new Problem('idempotency_key_reuse') }
}

async function acceptFresh(
  tx: Transaction,
  submissions: readonly Submission[],
  results: Map<Submission, Result>,
) {
  const state = await loadAcceptanceState(tx, submissions)
  const accepted: Accepted[] = []
  for (const submission of submissions) {
    try {
      const one = toAccepted(submission, decide(submission, state))
      buildOn(one, state)
      accepted.push(one)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      results.set(submission, { failed: error })
    }
  }
  if (accepted.length === 0) return
  await writeAccepted(tx, accepted, state)
  const answers = accepted.map(({ submission, row }) => {
    const resource = toPackageResource({ ...row, state: 'accepted' }, submission.context)
    return { submission, answer: { status: ACCEPTED, body: JSON.stringify(resource) } }
  })
  await insertRecords(
    tx,
    answers.map(({ submission, answer }) => ({
      ...answer,
      claim: claimOf(submission),
      contentHash: submission.contentHash,
      recordedAt: submission.now,
    })),
  )
  for (const { submission, answer } of answers) results.set(submission, { done: answer })
}

/** The next submission of the batch is judged by a world that holds this one. */
function buildOn({ row, decision, answered }: Accepted, state: AcceptanceState): void {
  const { thread, joining } = decision
  state.threads.set(row.thread_id, {
    ...thread,
    participants: new Set([...thread.participants, ...joining]),
    packageCount: row.thread_position,
    isNew: false,
  })
  state.packages.set(row.package_id, row)
  if (answered) state.packages.set(answered.package_id, answered)
}

function claimOf({ caller, operation, idempotencyKey, respondsTo, context }: Submission): Claim {
  const params = respondsTo === undefined ? {} : { package_id: respondsTo }
  return {
    organizationId: caller.organizationId,
    scope: idempotencyScope(operation, params, context.profile),
    key: idempotencyKey,
  }
}
