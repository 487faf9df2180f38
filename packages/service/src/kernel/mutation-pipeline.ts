import type { OperationId } from '@agent-exchange/protocol'
import { type Database, inTransaction } from '@agent-exchange/database'
import { toClaim, type RecordedAnswer } from './idempotency-records.ts'
import { createBatcher, runSingly, type Batcher, type RunBatch } from './batcher.ts'
import type { BatchMutation, Call, Mutation } from './call.ts'
import type { QueueName } from './queue-name.ts'
import { runClaimed, type BatchSteps, type ClaimedCall, type ToAnswer } from './claimed-batch.ts'
import { contentHash, idempotencyScope } from './idempotency.ts'
import { createReplayOnFailure, type ReplayOnFailure } from './replay-on-failure.ts'
import type { Tracing } from './tracing.ts'

const CONCURRENT_BATCHES = 2
const MAXIMUM_BATCH = 32
const MAXIMUM_QUEUE = 2_048

/** The only way to change something on behalf of a caller. */
export interface MutationPipeline {
  /** For a mutation that failed before it could be submitted. */
  readonly replayOnFailure: ReplayOnFailure
  submit<Id extends OperationId, Found, State>(
    operation: Id,
    mutation: Mutation<Id, Found> | BatchMutation<Id, Found, State>,
    call: Call<Id>,
  ): Promise<RecordedAnswer>
  /** Calls that wait for a transaction, by queue. */
  depths(): ReadonlyMap<QueueName, number>
  /** Resolves when no batch waits or runs. */
  idle(): Promise<void>
}

export interface PipelineObserver {
  /** Called for each call that changed something, not for retries. */
  readonly onCommitted?: (operation: OperationId) => void
  /** Called for each transaction of a queue, committed or not. */
  readonly onBatch?: (queue: QueueName, size: number) => void
  /** Undefined: tracing is off. */
  readonly tracing?: Tracing | undefined
}

type AnyBatchMutation = BatchMutation<OperationId, unknown, unknown>
type AnyMutation = Mutation<OperationId, unknown> | AnyBatchMutation

/**
 * API-04, API-05: authorize; then claim, read, run and record in one transaction, for one call or for a batch. A call
 * that fails before its claim is compared with the record of its key.
 */
export function createMutationPipeline(
  db: Database,
  toAnswer: ToAnswer,
  { onCommitted, onBatch, tracing }: PipelineObserver = {},
): MutationPipeline {
  const batchers = new Map<AnyBatchMutation['runBatch'], Batcher<ClaimedCall, RecordedAnswer>>()
  const queues = new Map<QueueName, Batcher<ClaimedCall, RecordedAnswer>>()
  const replayOnFailure = createReplayOnFailure(db)

  const commit = (steps: BatchSteps) => async (calls: readonly ClaimedCall[]) => {
    const done: OperationId[] = []
    const results = await inTransaction(db, (tx) => {
      done.length = 0
      return runClaimed(tx, calls, steps, (operation, resource) => {
        done.push(operation)
        return toAnswer(operation, resource)
      })
    })
    if (onCommitted) done.forEach(onCommitted)
    return results
  }

  function batcherOf(mutation: AnyBatchMutation): Batcher<ClaimedCall, RecordedAnswer> {
    let batcher = batchers.get(mutation.runBatch)
    if (!batcher) {
      const run = commit(mutation)
      const { queue } = mutation
      batcher = createBatcher({
        concurrency: CONCURRENT_BATCHES,
        maximumBatch: MAXIMUM_BATCH,
        minConcurrentBatch: mutation.minConcurrentBatch,
        maximumQueue: MAXIMUM_QUEUE,
        holderOf: ({ call }) => call.caller.organizationId,
        run: (calls) => {
          onBatch?.(queue, calls.length)
          return tracing ? runTraced(tracing, queue, calls, run) : run(calls)
        },
      })
      queues.set(queue, batcher)
      batchers.set(mutation.runBatch, batcher)
    }
    return batcher
  }

  async function submit(operation: OperationId, mutation: AnyMutation, call: Call<OperationId>) {
    let found: unknown
    try {
      found = await mutation.authorize(call, db)
    } catch (error) {
      return replayOnFailure(error, { ...call, operation, params: { ...call.params } })
    }
    const scope = idempotencyScope(operation, call.params, call.context.profile)
    const claimed: ClaimedCall = {
      operation,
      call,
      found,
      claim: toClaim(call.caller.organizationId, scope, call.idempotencyKey),
      contentHash: mutation.contentHash?.(call, found) ?? contentHash(call),
    }
    if ('runBatch' in mutation) return batcherOf(mutation).submit(claimed)
    return runSingly(commit(asBatch(mutation)), claimed)
  }

  return {
    replayOnFailure,
    // The type parameters tie mutation and call together; a batch holds only calls of mutations that share `runBatch`.
    submit: submit as MutationPipeline['submit'],
    depths: () => new Map([...queues].map(([name, batcher]) => [name, batcher.depth()])),
    idle: async () => {
      await Promise.all([...batchers.values()].map((batcher) => batcher.idle()))
    },
  }
}

async function runTraced(
  tracing: Tracing,
  queue: QueueName,
  calls: readonly ClaimedCall[],
  run: RunBatch<ClaimedCall, RecordedAnswer>,
) {
  const span = tracing.startBatch(
    queue,
    calls.map(({ call }) => call.span),
  )
  let hasFailed = true
  try {
    const results = await run(calls)
    hasFailed = false
    return results
  } finally {
    if (span) tracing.endBatch(span, hasFailed)
  }
}

/** A problem that `run` throws rolls the transaction back, so `run` may write before it knows of one. */
function asBatch({ run }: Mutation<OperationId, unknown>): BatchSteps {
  return { runBatch: (calls, tx) => Promise.all(calls.map(({ call, found }) => run(call, tx, found))) }
}
