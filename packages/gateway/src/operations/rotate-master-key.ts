import type { Database, Queries } from '@agent-exchange/database'
import { wrappedReasons } from '../approvals/decision-rows.ts'
import { wrappedContents } from '../content/open-content-store.ts'
import { wrappedFailures } from '../inbox/inbox-items.ts'
import { wrappedEndpoints } from '../push/push-endpoints.ts'
import { wrappedDrafts } from '../stores/draft-store.ts'
import { wrappedKeys } from '../stores/key-store.ts'
import { markOf, type SecretBox } from '../stores/secret-box.ts'
import type { RewrapStep, WrappedRows } from '../stores/wrapped-rows.ts'

/** Everything that the master key wraps. */
const ALL: readonly WrappedRows[] = [
  wrappedKeys,
  wrappedContents,
  wrappedDrafts,
  wrappedReasons,
  wrappedEndpoints,
  wrappedFailures,
]

/** Rows that one transaction rewraps. */
const ROWS_A_STEP = 200

export interface Left {
  readonly what: string
  readonly count: number
}

/** What the current master key does not wrap yet. */
export function countLeft(db: Queries, box: SecretBox): Promise<readonly Left[]> {
  return Promise.all(
    ALL.map(async ({ what, left }) => ({ what, count: (await left(db, [box.currentMark()])).count })),
  )
}

/** Fingerprint of a master key that the database needs and that is none of these. */
export async function missingKeyId(db: Queries, ids: readonly string[]): Promise<string | undefined> {
  for (const { left } of ALL) {
    const { keyId } = await left(db, ids.map(markOf))
    if (keyId !== undefined) return keyId
  }
  return undefined
}

/**
 * Wraps everything by the current master key, in short transactions: run it again after an interruption. Data keys stay, so a
 * backup from before needs the former key.
 */
export async function rotateMasterKey(
  db: Database,
  box: SecretBox,
  onProgress: (progress: Left & { readonly rewrapped: number }) => void = () => undefined,
): Promise<number> {
  let total = 0
  for (const { what, left, rewrap } of ALL) {
    const { count } = await left(db, [box.currentMark()])
    let rewrapped = 0
    let after: RewrapStep['last']
    do {
      const step: RewrapStep = await db.begin((tx) => rewrap(tx, box, { after, limit: ROWS_A_STEP }))
      rewrapped += step.rewrapped
      after = step.last
      if (step.rewrapped > 0) onProgress({ what, rewrapped, count: Math.max(count - rewrapped, 0) })
    } while (after)
    total += rewrapped
  }
  return total
}
