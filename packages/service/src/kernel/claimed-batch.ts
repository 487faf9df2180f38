import type { OperationId } from '@agent-exchange/protocol'
import { deferToCommit, type Transaction } from '@agent-exchange/database'
import {
  claimName,
  findRecords,
  insertRecords,
  type Claim,
  type FoundRecord,
  type IdempotencyRecord,
  type RecordedAnswer,
} from './idempotency-records.ts'
import { lockNames, tryNames } from './named-locks.ts'
import type { BatchResult } from './batcher.ts'
import type { AuthorizedCall, BatchMutation } from './call.ts'
import { sameContent } from './idempotency.ts'
import { Problem } from './problem.ts'

/** An authorized call with its idempotency claim. */
export interface ClaimedCall extends AuthorizedCall<OperationId, unknown> {
  readonly operation: OperationId
  readonly claim: Claim
  readonly contentHash: Uint8Array
}

export type BatchSteps = Pick<BatchMutation<OperationId, unknown, unknown>, 'readBatch' | 'runBatch'>

/** Encodes the resource that an operation returned as the answer to record and to send. */
export type ToAnswer = (operation: OperationId, resource: unknown) => RecordedAnswer

type Result = BatchResult<RecordedAnswer>

/**
 * API-04, API-05: a retry gets the recorded answer, a call whose claim another transaction holds leaves the batch, and
 * the others run and are recorded. A problem records nothing. `readBatch` is sent together with the claims.
 */
export async function runClaimed(
  tx: Transaction,
  calls: readonly ClaimedCall[],
  { readBatch, runBatch }: BatchSteps,
  toAnswer: ToAnswer,
): Promise<Result[]> {
  const [results, state] = await Promise.all([claimAll(tx, calls), readBatch?.(calls, tx)])
  const fresh = calls.filter((call) => !results.has(call))
  const outcomes = fresh.length > 0 ? await runBatch(fresh, tx, state) : []
  const records: IdempotencyRecord[] = []
  fresh.forEach((each, index) => {
    const outcome = outcomes[index] ?? new Error('a batch has too few outcomes')
    if (outcome instanceof Error) {
      results.set(each, { failed: outcome })
      return
    }
    const { operation, claim, contentHash, call } = each
    const answer = toAnswer(operation, outcome)
    results.set(each, { done: answer })
    records.push({ ...answer, claim, contentHash, recordedAt: call.now })
  })
  deferToCommit(tx, insertRecords(tx, records))
  return calls.map((call) => results.get(call) ?? 'retrySingly')
}

/** A batch of one may wait for the holder of its claim. In a larger batch that wait would delay the other calls. */
async function claimAll(tx: Transaction, calls: readonly ClaimedCall[]): Promise<Map<ClaimedCall, Result>> {
  const names = calls.map(({ claim }) => claimName(claim))
  const locking =
    calls.length === 1
      ? lockNames(tx, 'claim', names).then(() => new Set<string>())
      : tryNames(tx, 'claim', names)
  const finding = findRecords(
    tx,
    calls.map(({ claim }) => claim),
  )
  const [held, records] = await Promise.all([locking, finding])
  const results = new Map<ClaimedCall, Result>()
  const seen = new Set<string>()
  calls.forEach((call, index) => {
    const name = names[index] ?? ''
    const record = records.get(name)
    if (held.has(name) || seen.has(name)) results.set(call, 'retrySingly')
    else if (record) results.set(call, replayRecorded(record, call))
    seen.add(name)
  })
  return results
}

function replayRecorded(record: FoundRecord, { contentHash }: ClaimedCall): Result {
  return sameContent(record.contentHash, contentHash)
    ? { done: record }
    : { failed: new Problem('idempotency_key_reuse') }
}
