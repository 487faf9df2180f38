import type { Transaction } from '../db/database.ts'
import {
  claimName,
  findRecords,
  insertRecords,
  type Claim,
  type FoundRecord,
  type RecordedAnswer,
} from '../db/idempotency.ts'
import { lockNames, tryNames } from '../db/locks.ts'
import { leaveToCommit } from '../db/transaction-lines.ts'
import type { BatchResult } from './group-commit.ts'
import { sameContent } from './idempotency.ts'
import { Problem } from './problem.ts'

/** A request, with what its idempotency record is made of. */
export interface Claimed {
  readonly claim: Claim
  readonly contentHash: Uint8Array
  readonly now: string
}

type Result = BatchResult<RecordedAnswer>

/** What is done with a batch under its claims. */
export interface ClaimedWork<Item, State> {
  /** Reads what `run` will need. It is sent right behind the claims, of which nobody knows yet whose they are. */
  readonly read: () => Promise<State>
  /** An answer or a problem for each. */
  readonly run: (fresh: readonly Item[], state: State) => Promise<readonly (RecordedAnswer | Problem)[]>
}

/**
 * API-04, API-05 for a batch: repeats get the recorded answer, what somebody else is working on is put off, and the
 * rest is carried out and recorded. A problem records nothing.
 */
export async function runClaimed<Item extends Claimed, State>(
  tx: Transaction,
  items: readonly Item[],
  { read, run }: ClaimedWork<Item, State>,
): Promise<Result[]> {
  const [results, state] = await Promise.all([claim(tx, items), read()])
  const fresh = items.filter((item) => !results.has(item))
  const outcomes = fresh.length > 0 ? await run(fresh, state) : []
  const done = fresh.flatMap((item, index) => {
    const outcome = outcomes[index] ?? new Error('a batch has too few outcomes')
    results.set(item, outcome instanceof Error ? { failed: outcome } : { done: outcome })
    return outcome instanceof Error ? [] : [{ ...outcome, ...recordOf(item) }]
  })
  leaveToCommit(tx, insertRecords(tx, done))
  return items.map((item) => results.get(item) ?? 'alone')
}

function recordOf({ claim: own, contentHash, now }: Claimed) {
  return { claim: own, contentHash, recordedAt: now }
}

/** One alone may wait for whoever holds its claim. In a batch nobody waits: it would hold up all the others. */
async function claim<Item extends Claimed>(
  tx: Transaction,
  items: readonly Item[],
): Promise<Map<Item, Result>> {
  const names = items.map((item) => claimName(item.claim))
  const locking =
    items.length === 1
      ? lockNames(tx, 'claim', names).then(() => new Set<string>())
      : tryNames(tx, 'claim', names)
  const finding = findRecords(
    tx,
    items.map((item) => item.claim),
  )
  const [held, records] = await Promise.all([locking, finding])
  const results = new Map<Item, Result>()
  const seen = new Set<string>()
  items.forEach((item, index) => {
    const name = names[index] ?? ''
    const record = records.get(name)
    if (held.has(name) || seen.has(name)) results.set(item, 'alone')
    else if (record) results.set(item, again(record, item))
    seen.add(name)
  })
  return results
}

function again(record: FoundRecord, { contentHash }: Claimed): Result {
  return sameContent(record.contentHash, contentHash)
    ? { done: record }
    : { failed: new Problem('idempotency_key_reuse') }
}
