import type { AuditEvent } from '@agent-exchange/protocol'
import { afterCommit, deferToCommit, type Transaction } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import { Problem } from '../../kernel/problem.ts'
import { linkEntries } from '../audit/chain.ts'
import { insertAuditRecords } from '../audit/record-store.ts'
import { emitEvents } from '../notifications/emit-events.ts'
import { moveThreadEnds, threadEnds } from '../threads/store.ts'
import { applyTransition, type CausedTransition } from './apply-transition.ts'
import { chainsOf, loadPackages, updatePackages, withChain, type PackageRow } from './store.ts'

/** Locks the threads of packages, so that transitions of a package are serialized, and reads the packages. */
export async function lockPackages(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, PackageRow>> {
  const seen = await loadPackages(tx, ids)
  const threads = [...seen.values()].map((row) => row.thread_id)
  const [, rows] = await Promise.all([lockNames(tx, 'thread', threads), loadPackages(tx, [...seen.keys()])])
  return rows
}

/** PKG-07: the package in the path, locked. One that does not exist and one of other parties get the same answer. */
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

/** Records one transition and returns its audit events; see {@link recordTransitions}. */
export async function recordTransition(
  tx: Transaction,
  transition: CausedTransition,
): Promise<readonly AuditEvent[]> {
  const [events] = await recordTransitions(tx, [transition])
  return events ?? []
}

/**
 * Applies transitions of locked packages in order: writes the new states, appends to the audit chains and emits the
 * events of the new states. Returns the audit events of each transition.
 */
export async function recordTransitions(
  tx: Transaction,
  transitions: readonly CausedTransition[],
): Promise<(readonly AuditEvent[])[]> {
  const threads = await threadEnds(tx, [...new Set(transitions.map(({ row }) => row.thread_id))])
  // A second transition of a package starts from the result of the first.
  const current = new Map<string, PackageRow>()
  const applied = transitions.map((each) => {
    const one = applyTransition({ ...each, row: current.get(each.row.package_id) ?? each.row })
    if (one.moved) current.set(one.moved.package_id, one.moved)
    return one
  })
  const packages = chainsOf(transitions.map(({ row }) => row))
  const { records, ends } = linkEntries(
    { threads, packages },
    applied.flatMap(({ drafts }) => drafts),
  )
  // Those that moved, and all that have a chain of their own.
  for (const { row } of transitions)
    if (packages.has(row.package_id) && !current.has(row.package_id)) current.set(row.package_id, row)
  deferToCommit(
    tx,
    updatePackages(
      tx,
      [...current.values()].map((row) => withChain(row, ends.packages)),
    ),
    insertAuditRecords(tx, records),
    moveThreadEnds(tx, ends.threads),
  )
  emitEvents(
    tx,
    applied.flatMap(({ events }) => events),
    transitions[0]?.cause.context.directClaims,
  )
  afterCommit(tx, () =>
    applied.forEach(({ moved }, index) => {
      if (moved) transitions[index]?.cause.context.onPackageState(moved.state, moved.transport_mode)
    }),
  )
  return applied.map(({ auditEvents }) => auditEvents)
}
