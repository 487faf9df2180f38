import {
  eventTypeFor,
  movePackage,
  type AuditEvent,
  type AuditEventType,
  type PackageTrigger,
} from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import { lockNames } from '../../db/locks.ts'
import { leaveToCommit } from '../../db/transaction-lines.ts'
import { randomId } from '../../kernel/ids.ts'
import { Problem } from '../../kernel/problem.ts'
import { packageTarget, toAuditEvent, traceOf, type Cause } from '../audit/audit-event.ts'
import { insertAuditRecords, linkEntries, type AuditDraft } from '../audit/chain.ts'
import { emitEvents, type LifecycleEvent } from '../notifications/emit-events.ts'
import { chainEnds, moveChainEnds } from '../threads/store.ts'
import { toDraft, toEvent } from './facts.ts'
import { loadPackages, setStates, type PackageRow } from './store.ts'

/** A fact about one package: what it proves, and which audit events it leaves. */
export interface PackageFact {
  readonly trigger: PackageTrigger | undefined
  readonly kind: string
  readonly proof: Readonly<Record<string, unknown>>
  readonly auditKinds: readonly AuditEventType[]
  /** Who acted, as far as it is known: without an agent there is no audit event. */
  readonly agentId: string | undefined
}

/** A fact about a locked package, and the request that brought it. */
export interface FactReport {
  readonly row: PackageRow
  readonly fact: PackageFact
  readonly cause: Cause
}

/** Packages with their threads locked, so that facts about them are recorded one after the other. */
export async function lockPackages(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, PackageRow>> {
  const seen = await loadPackages(tx, ids)
  const threads = [...seen.values()].map((row) => row.thread_id)
  const [, rows] = await Promise.all([lockNames(tx, 'thread', threads), loadPackages(tx, [...seen.keys()])])
  return rows
}

/** PKG-07: the package in the path, locked; one that is not the caller's and none at all answer alike. */
export async function lockPackage(
  tx: Transaction,
  packageId: string,
  organizationId: string,
): Promise<PackageRow> {
  return requireParty((await lockPackages(tx, [packageId])).get(packageId), organizationId)
}

export function requireParty(row: PackageRow | undefined, organizationId: string): PackageRow {
  const isParty = row && [row.sender_org_id, row.recipient_org_id].includes(organizationId)
  if (!isParty) throw new Problem('resource_not_found')
  return row
}

/** Records one fact; see {@link recordFacts}. Returns the audit events that were left. */
export async function recordFact(tx: Transaction, report: FactReport): Promise<readonly AuditEvent[]> {
  const [events] = await recordFacts(tx, [report])
  return events ?? []
}

/**
 * Records facts about locked packages, in their order: moves states where the table says so, appends to the audit
 * chains and emits the events of the final states. Returns the audit events that each of them left.
 */
export async function recordFacts(
  tx: Transaction,
  reports: readonly FactReport[],
): Promise<(readonly AuditEvent[])[]> {
  const ends = await chainEnds(tx, [...new Set(reports.map(({ row }) => row.thread_id))])
  // A second fact about a package builds on the first.
  const current = new Map<string, PackageRow>()
  const recorded = reports.map((report) => {
    const one = judge({ ...report, row: current.get(report.row.package_id) ?? report.row })
    if (one.moved) current.set(one.moved.package_id, one.moved)
    return one
  })
  const linked = linkEntries(
    ends,
    recorded.flatMap(({ drafts }) => drafts),
  )
  leaveToCommit(
    tx,
    setStates(tx, [...current.values()]),
    insertAuditRecords(tx, linked.records),
    moveChainEnds(tx, linked.ends),
  )
  emitEvents(
    tx,
    recorded.flatMap(({ told }) => told),
    reports[0]?.cause.context.newId ?? randomId,
  )
  return recorded.map(({ auditEvents }) => auditEvents)
}

interface Recorded {
  /** The package as it is now, where it moved. */
  readonly moved: PackageRow | undefined
  readonly auditEvents: readonly AuditEvent[]
  readonly drafts: readonly AuditDraft[]
  readonly told: readonly LifecycleEvent[]
}

function judge({ row, fact, cause }: FactReport): Recorded {
  const { profile } = cause.context
  const move = fact.trigger ? movePackage(row.state, fact.trigger, row.transport_mode, profile) : undefined
  if (move?.outcome === 'refused') throw new Problem('invalid_state_transition', { state: row.state })
  const moved = move?.outcome === 'moved' ? { ...row, state: move.to, updated_at: cause.now } : undefined
  const states = move?.outcome === 'moved' && { state: move.to, implied_states: move.implied }
  // ID-05: a signed statement is judged at its arrival, which the time of recording may follow.
  const arrival = 'signature' in fact.proof && { accepted_at: cause.now }
  const proof = { kind: fact.kind, ...fact.proof, ...arrival, ...states }
  const auditEvents = toAuditEvents({ row, fact, cause })
  const drafts = (auditEvents.length > 0 ? auditEvents.map((event) => ({ event })) : [{}]).map((event) =>
    toDraft(row, { ...event, proof }, cause.now),
  )
  const eventType = moved && eventTypeFor(moved.state, profile)
  const told = moved && eventType !== undefined ? [toEvent(moved, eventType, cause)] : []
  return { moved, auditEvents, drafts, told }
}

function toAuditEvents({ row, fact, cause }: FactReport): AuditEvent[] {
  const { agentId } = fact
  if (agentId === undefined) return []
  const target = packageTarget(row.package_id, cause.context, row.responds_to_package_id !== null)
  const trace = traceOf(cause)
  return fact.auditKinds.map((eventType) =>
    toAuditEvent({ eventType, threadId: row.thread_id, agentId, target }, cause, trace),
  )
}
