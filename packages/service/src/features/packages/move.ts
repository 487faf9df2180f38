import { eventTypeFor, movePackage, type AuditEventType, type PackageTrigger } from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import { lockNames } from '../../db/locks.ts'
import { Problem } from '../../kernel/problem.ts'
import { toAuditEvent, type Cause } from '../audit/audit-event.ts'
import { appendAudit } from '../audit/chain.ts'
import { emitEvents } from '../notifications/emit-events.ts'
import { chainEnd } from '../threads/store.ts'
import { aboutPackage, toEvent } from './facts.ts'
import { findPackageOfParty, setStates, type PackageRow } from './store.ts'

/** A fact about one package: what it proves, and which audit events it leaves. */
export interface PackageFact {
  readonly trigger: PackageTrigger | undefined
  readonly kind: string
  readonly proof: Readonly<Record<string, unknown>>
  readonly auditKinds: readonly AuditEventType[]
  readonly agentId: string
}

/** The package in the path, with its thread locked, so that facts about it are recorded one after the other. */
export async function lockPackage(
  tx: Transaction,
  packageId: string,
  organizationId: string,
): Promise<PackageRow> {
  const seen = await findPackageOfParty(tx, packageId, organizationId)
  if (!seen) throw new Problem('resource_not_found')
  await lockNames(tx, 'thread', [seen.thread_id])
  const row = await findPackageOfParty(tx, packageId, organizationId)
  if (!row) throw new Problem('resource_not_found')
  return row
}

/**
 * Records a fact about a locked package: moves the state where the table says so, appends to the audit chain and
 * emits the event of the final state. Returns the package as it is now, and the audit events that were left.
 */
export async function recordFact(tx: Transaction, row: PackageRow, fact: PackageFact, cause: Cause) {
  const { profile, newId } = cause.context
  const move = fact.trigger ? movePackage(row.state, fact.trigger, row.transport_mode, profile) : undefined
  if (move?.outcome === 'refused') throw new Problem('invalid_state_transition', { state: row.state })
  const hasMoved = move?.outcome === 'moved'
  const now = hasMoved ? { ...row, state: move.to, updated_at: cause.now } : row

  const proof = {
    kind: fact.kind,
    ...fact.proof,
    ...(hasMoved && { state: move.to, implied_states: move.implied }),
  }
  const target = { object_id: row.package_id, object_type: 'reasoning_package' }
  const events = fact.auditKinds.map((eventType) =>
    toAuditEvent({ eventType, threadId: row.thread_id, agentId: fact.agentId, target }, cause),
  )
  const about = aboutPackage(row, cause.now)
  const drafts =
    events.length > 0 ? events.map((event) => ({ ...about, event, proof })) : [{ ...about, proof }]
  if (hasMoved) await setStates(tx, [now])
  await appendAudit(tx, new Map([[row.thread_id, await chainEnd(tx, row.thread_id)]]), drafts)
  const eventType = hasMoved ? eventTypeFor(now.state, profile) : undefined
  if (eventType !== undefined) await emitEvents(tx, [toEvent(now, eventType, cause)], newId)
  return { row: now, auditEvents: events }
}
