import { type Database, inTransaction, type Transaction } from '@agent-exchange/database'
import { Problem } from '../../kernel/problem.ts'
import { announceStatus } from '../../webhooks/queue/wake-workers.ts'
import { hasPendingDeliveries, REMOVALS, STEP_ROWS } from './end-removals.ts'
import { appendToLog } from '../operators/operator-log-store.ts'
import {
  findEnd,
  insertEnd,
  listUnfinishedEnds,
  lockUnfinishedEnd,
  recordStep,
  toEnd,
  type OrganizationEndRow,
} from './organization-end-store.ts'
import { lockOrganization, setOrganizationStatus } from './organization-store.ts'

/** Steps of one run; the next run continues. */
const MAXIMUM_STEPS = 1_000
const MAXIMUM_ENDS = 100

export interface EndRequest {
  readonly organizationId: string
  readonly startedBy: string
  readonly reason: string
  readonly now: string
}

/** Irreversible. Access ends with this transaction; `continueEnd` then removes the data in steps. */
export async function beginEnd(tx: Transaction, request: EndRequest) {
  const { organizationId, now } = request
  const organization = await lockOrganization(tx, organizationId)
  if (!organization) throw new Problem('resource_not_found')
  if (organization.status === 'ended') throw new Problem('invalid_state_transition', { state: 'ended' })
  await setOrganizationStatus(tx, organizationId, 'ended')
  await announceStatus(tx, organizationId, 'suspended')
  await insertEnd(tx, { ...request, now })
  return readEnd(tx, organizationId)
}

/** One step. Repeat it until the state is `finished`. */
export async function continueEnd(tx: Transaction, organizationId: string, now: string) {
  const end = await lockUnfinishedEnd(tx, organizationId)
  if (end) await removeStep(tx, end, now)
  return readEnd(tx, organizationId)
}

/** Continues every unfinished end, so that a lost connection of an operator leaves nothing behind. */
export async function continueEnds(db: Database, now: string, signal?: AbortSignal): Promise<void> {
  for (const organizationId of await listUnfinishedEnds(db, MAXIMUM_ENDS)) {
    for (let step = 0; step < MAXIMUM_STEPS && !signal?.aborted; step++) {
      const { hasMore } = await inTransaction(db, async (tx) => {
        const end = await lockUnfinishedEnd(tx, organizationId)
        return end ? removeStep(tx, end, now) : { hasMore: false }
      })
      if (!hasMore) break
    }
  }
}

async function readEnd(tx: Transaction, organizationId: string) {
  const end = await findEnd(tx, organizationId)
  if (!end) throw new Problem('resource_not_found')
  return toEnd(end)
}

/** Removes up to STEP_ROWS rows of one kind after the other. */
async function removeStep(
  tx: Transaction,
  { organization_id: id, removed: text, started_by, reason }: OrganizationEndRow,
  now: string,
): Promise<{ readonly hasMore: boolean }> {
  // All statements are planned by index; append-only tables allow what retention deletes.
  await tx.byIndex`select set_config('aex.retention', 'on', true)`
  const removed = JSON.parse(text) as Record<string, number>
  for (const [what, remove] of Object.entries(REMOVALS)) {
    const count = await remove(tx, id, now)
    removed[what] = (removed[what] ?? 0) + count
    if (count < STEP_ROWS) continue
    await recordStep(tx, id, { removed, finishedAt: undefined })
    return { hasMore: true }
  }
  // A delivery under way belongs to its worker, which finishes it within seconds.
  const isFinished = !(await hasPendingDeliveries(tx, id))
  await recordStep(tx, id, { removed, finishedAt: isFinished ? now : undefined })
  if (isFinished) {
    const entry = { actor: started_by, action: 'organization.end-finished', target: id, reason }
    await appendToLog(tx, { ...entry, details: { removed }, now })
  }
  return { hasMore: false }
}
