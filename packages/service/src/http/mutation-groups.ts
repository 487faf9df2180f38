import { operations, type OperationId } from '@agent-exchange/protocol'
import type { Database } from '../db/database.ts'
import { toClaim, type RecordedAnswer } from '../db/idempotency.ts'
import { inTransaction } from '../db/transaction.ts'
import type { AuthorizedCall, Call, GroupMutation } from '../kernel/call.ts'
import { runClaimed, type Claimed } from '../kernel/claimed-batch.ts'
import { createGroupCommit, type GroupCommit } from '../kernel/group-commit.ts'
import { contentHash, idempotencyScope } from '../kernel/idempotency.ts'
import { Problem } from '../kernel/problem.ts'

const LANES = 2
const MAXIMUM_BATCH = 32
const MAXIMUM_QUEUE = 2_048

type Waiting = AuthorizedCall<OperationId, unknown> & Claimed

/** Carries out calls of group mutations, each kind in groups of its own. */
export interface MutationGroups {
  submit<Id extends OperationId, Found>(
    id: Id,
    mutation: GroupMutation<Id, Found>,
    call: Call<Id>,
  ): Promise<RecordedAnswer>
  /** Resolves when nothing waits and nothing is under way. */
  idle(): Promise<void>
}

/** API-04, API-05 as in `mutate`: authorization first, then claim, effect and record in one transaction. */
export function createMutationGroups(db: Database): MutationGroups {
  const groups = new Map<OperationId, GroupCommit<Waiting, RecordedAnswer>>()

  function groupOf(id: OperationId, { runAll }: GroupMutation<OperationId, unknown>) {
    let group = groups.get(id)
    if (!group) {
      const { status } = operations[id].success
      group = createGroupCommit<Waiting, RecordedAnswer>({
        lanes: LANES,
        maximumBatch: MAXIMUM_BATCH,
        maximumQueue: MAXIMUM_QUEUE,
        commit: (calls) =>
          inTransaction(db, (tx) =>
            runClaimed(tx, calls, {
              read: async () => undefined,
              run: async (fresh) => {
                const answers = await runAll(fresh, tx)
                return answers.map((each) =>
                  each instanceof Problem ? each : { status, body: JSON.stringify(each) },
                )
              },
            }),
          ),
      })
      groups.set(id, group)
    }
    return group
  }

  return {
    async submit(id, mutation, call) {
      const found = await mutation.authorize(call, db)
      const { caller, params, idempotencyKey, now, context } = call
      const scope = idempotencyScope(id, params, context.profile)
      const claim = toClaim(caller.organizationId, scope, idempotencyKey)
      // One of several types; a group holds calls of its own operation only.
      const group = groupOf(id, mutation as unknown as GroupMutation<OperationId, unknown>)
      return group.submit({
        call,
        found,
        claim,
        contentHash: contentHash(call),
        now,
      })
    },
    idle: async () => {
      await Promise.all([...groups.values()].map((group) => group.idle()))
    },
  }
}
