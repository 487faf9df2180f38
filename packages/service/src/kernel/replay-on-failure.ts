import { problems, type OperationId } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { createBatcher } from './batcher.ts'
import type { Caller } from './call.ts'
import type { Context } from './context.ts'
import { idempotencyScope, sameContent, submittedHash } from './idempotency.ts'
import {
  claimName,
  findRecords,
  toClaim,
  type Claim,
  type FoundRecord,
  type RecordedAnswer,
} from './idempotency-records.ts'
import { Problem } from './problem.ts'
import { RoleRefusal } from './roles.ts'

const MAXIMUM_BATCH = 256
const MAXIMUM_QUEUE = 2_048

/** A mutation that failed before its claim was looked up. */
export interface FailedAttempt {
  readonly operation: OperationId
  readonly caller: Caller
  readonly idempotencyKey: string
  readonly params: Readonly<Record<string, string>>
  /** Undefined if the body is not JSON. */
  readonly body: unknown
  readonly context: Context
}

/** Returns the original answer of an exact retry. Otherwise throws the failure, or `idempotency_key_reuse`. */
export type ReplayOnFailure = (failure: unknown, attempt: FailedAttempt) => Promise<RecordedAnswer>

/**
 * API-05: the record of a key decides before anything that a request may be refused for. Success finds the record with
 * its claim, so only a refused request needs this lookup. Requests that fail together share one query.
 */
export function createReplayOnFailure(db: Queries): ReplayOnFailure {
  const lookups = createBatcher<Claim, FoundRecord | undefined>({
    concurrency: 1,
    maximumBatch: MAXIMUM_BATCH,
    maximumQueue: MAXIMUM_QUEUE,
    holderOf: ({ organizationId }) => organizationId,
    run: async (claims) => {
      const records = await findRecords(db, claims)
      return claims.map((claim) => ({ done: records.get(claimName(claim)) }))
    },
  })
  return async (failure, attempt) => {
    if (!(failure instanceof Problem) || problems[failure.code].retryable) throw failure
    const record = await lookups.submit(claimOf(attempt))
    if (!record) throw failure
    const hash = submittedHash(attempt)
    if (!hash || !sameContent(record.contentHash, hash))
      throw new Problem('idempotency_key_reuse', {}, { cause: failure })
    if (failure instanceof RoleRefusal) throw failure
    return record
  }
}

function claimOf({ operation, caller, idempotencyKey, params, context }: FailedAttempt): Claim {
  const scope = idempotencyScope(operation, params, context.profile)
  return toClaim(caller.organizationId, scope, idempotencyKey)
}
