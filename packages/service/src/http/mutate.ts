import { operations, type OperationId } from '@agent-exchange/protocol'
import type { Database } from '../db/database.ts'
import { claimName, findRecords, insertRecords, toClaim, type RecordedAnswer } from '../db/idempotency.ts'
import { lockNames } from '../db/locks.ts'
import { leaveToCommit } from '../db/transaction-lines.ts'
import { inTransaction } from '../db/transaction.ts'
import type { Call, Mutation } from '../kernel/call.ts'
import { contentHash, idempotencyScope, sameContent } from '../kernel/idempotency.ts'
import { Problem } from '../kernel/problem.ts'

/**
 * API-04, API-05: authorization, then under the lock of the claim either the recorded answer or the effect with its
 * record, in one transaction. Whoever comes second waits for the first. A problem records nothing.
 */
export async function mutate<Id extends OperationId, Found>(
  id: Id,
  mutation: Mutation<Id, Found>,
  call: Call<Id>,
  db: Database,
): Promise<RecordedAnswer> {
  const found = await mutation.authorize(call, db)
  const hash = contentHash(call)
  const scope = idempotencyScope(id, call.params, call.context.profile)
  const claim = toClaim(call.caller.organizationId, scope, call.idempotencyKey)
  return inTransaction(db, async (tx) => {
    const locked = lockNames(tx, 'claim', [claimName(claim)])
    const [, records] = await Promise.all([locked, findRecords(tx, [claim])])
    const record = records.get(claimName(claim))
    if (record) {
      if (sameContent(record.contentHash, hash)) return record
      throw new Problem('idempotency_key_reuse')
    }
    const answer = {
      status: operations[id].success.status,
      body: JSON.stringify(await mutation.run(call, tx, found)),
    }
    leaveToCommit(tx, insertRecords(tx, [{ ...answer, claim, contentHash: hash, recordedAt: call.now }]))
    return answer
  })
}
