import { eventTypeFor, movePackage, parseInstant, type PackageState } from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import { leaveToCommit } from '../../db/transaction-lines.ts'
import { randomId } from '../../kernel/ids.ts'
import { packageTarget, toAuditEvent, traceOf } from '../audit/audit-event.ts'
import {
  EMPTY_CHAIN,
  insertAuditRecords,
  linkEntries,
  type AuditDraft,
  type ChainEnd,
} from '../audit/chain.ts'
import { fromLines } from '../audit/entry-text.ts'
import { emitEvents, type LifecycleEvent } from '../notifications/emit-events.ts'
import { addUsage, type UsageChange } from '../organizations/usage-store.ts'
import type { PolicyReceiptRow } from '../policy-receipts/store.ts'
import { pairName, saveThreads, type ThreadRow } from '../threads/store.ts'
import type { Decision } from './acceptance-decision.ts'
import type { AcceptanceState } from './acceptance-state.ts'
import { draftFor, toDraft, toEvent } from './facts.ts'
import { insertContents, insertPackages, setStates, type PackageRow } from './store.ts'
import type { Submission } from './submission.ts'

/** A submission that was decided for, with its place in the thread. */
export interface Accepted {
  readonly submission: Submission
  readonly decision: Decision
  readonly row: PackageRow
  /** States reached at once, the last of them stored. */
  readonly states: readonly PackageState[]
  /** Where the package that is answered moves, if it does. */
  readonly answered: PackageRow | undefined
}

export function toAccepted(submission: Submission, decision: Decision): Accepted {
  const states = statesAtOnce(submission)
  const row = toRow(submission, decision, states.at(-1) ?? 'accepted')
  return { submission, decision, states, row, answered: answeredPackage(submission, decision) }
}

/**
 * Writes all of them in the transaction of the batch. Statements are sent one behind the other, and nobody waits for them
 * before the commit; the streams' counters, which everybody needs, are locked by the last of them.
 */
export function writeAccepted(tx: Transaction, accepted: readonly Accepted[], state: AcceptanceState): void {
  const drafts = accepted.flatMap((each) => auditDrafts(each, state))
  const before = new Map(accepted.map(({ row, decision }) => [row.thread_id, decision.thread.chain]))
  const { records, ends } = linkEntries(before, drafts)
  const events = accepted.flatMap((each) => [acceptedEvent(each), ...answeredEvents(each)])
  const contents = accepted.flatMap(({ submission: { content }, row }) =>
    content.transport === 'native'
      ? [{ package_id: row.package_id, expires_at: row.expires_at, parts: content.parts }]
      : [],
  )
  const rows = accepted.map(({ row }) => row)
  leaveToCommit(
    tx,
    saveThreads(tx, threadRows(accepted, ends)),
    insertPackages(tx, rows),
    insertContents(tx, contents),
    insertAuditRecords(tx, records),
    addUsage(tx, accepted.map(usageOf)),
    // After them: what is answered may have come with the same batch.
    setStates(
      tx,
      accepted.flatMap(({ answered }) => answered ?? []),
    ),
  )
  emitEvents(tx, events, accepted[0]?.submission.context.newId ?? randomId)
}

/** O-13: its content is stored now, and its policy receipt is used. */
function usageOf({ submission, row }: Accepted): UsageChange {
  return { organizationId: row.sender_org_id, policyReceipts: -1, storedBytes: bytesOf(submission) }
}

export function bytesOf({ content }: Submission): number {
  return content.transport === 'native' ? content.bytes : 0
}

/** The last package of each thread says how many there are, and each who joins with it. */
function threadRows(accepted: readonly Accepted[], ends: ReadonlyMap<string, ChainEnd>): ThreadRow[] {
  return [...Map.groupBy(accepted, ({ row }) => row.thread_id).values()].flatMap((ofThread) =>
    ofThread.slice(-1).map(({ row }) => ({
      isNew: ofThread[0]?.decision.thread.packageCount === 0,
      thread_id: row.thread_id,
      transport_mode: row.transport_mode,
      created_at: row.accepted_at,
      package_count: row.thread_position,
      chain: ends.get(row.thread_id) ?? EMPTY_CHAIN,
      joining: ofThread.flatMap(({ decision }) => decision.newPairs.map((pair) => pairName(...pair))),
    })),
  )
}

/** What is true as soon as the package is: its content is stored, or its transfer has begun. */
function statesAtOnce({ content, context }: Submission): PackageState[] {
  const hasTransfer = content.transport === 'ds_x' && content.edc.transfer_process_id !== undefined
  const trigger =
    content.transport === 'native' ? 'content_stored' : hasTransfer ? 'transfer_referenced' : undefined
  const move = trigger && movePackage('accepted', trigger, content.transport, context.profile)
  return move?.outcome === 'moved' ? ['accepted', ...move.implied, move.to] : ['accepted']
}

function toRow(submission: Submission, { thread }: Decision, state: PackageState): PackageRow {
  const { metadata, content, now, signingKeyId, correlationId } = submission
  return {
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    thread_position: thread.packageCount + 1,
    sender_org_id: metadata.sender_org_id,
    sender_agent_id: metadata.sender_agent_id,
    recipient_org_id: metadata.recipient_org_id,
    recipient_agent_id: metadata.recipient_agent_id,
    transport_mode: content.transport,
    state,
    metadata: JSON.stringify(metadata),
    content_digest: metadata.content_digest,
    digest_rule: content.transport === 'native' ? content.digestRule : null,
    signing_key_id: signingKeyId,
    policy_receipt_id: metadata.policy_receipt_id,
    responds_to_package_id: metadata.responds_to_package_id ?? null,
    edc: content.transport === 'ds_x' ? JSON.stringify(content.edc) : null,
    sender_signature: content.transport === 'ds_x' ? JSON.stringify(content.senderSignature) : null,
    created_at: metadata.created_at,
    expires_at: inMilliseconds(metadata.expires_at),
    accepted_at: now,
    updated_at: now,
    correlation_id: correlationId,
  }
}

const LATEST_MILLISECOND = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * PKG-12: the next whole millisecond, which is what our clock counts in. The metadata keep the time as it was
 * written, with digits and leap seconds that the database does not take.
 */
function inMilliseconds(time: string): string {
  const { seconds, fraction } = parseInstant(time) ?? { seconds: 0, fraction: '' }
  const more = fraction.length > 3 ? 1 : 0
  const milliseconds = seconds * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0')) + more
  return new Date(Math.min(milliseconds, LATEST_MILLISECOND)).toISOString()
}

/** The policy receipt's entries, then the package's own with the signed acceptance, then the answer to another one. */
function auditDrafts(accepted: Accepted, { policyReceipts }: AcceptanceState): AuditDraft[] {
  const { submission, row } = accepted
  const { context } = submission
  const trace = traceOf(submission)
  const receipt = policyReceipts.get(row.policy_receipt_id)
  const policyId = receipt?.receipt.policy_id
  const fact = {
    threadId: row.thread_id,
    agentId: row.sender_agent_id,
    target: packageTarget(row.package_id, context, row.responds_to_package_id !== null),
    ...(policyId !== undefined && { policyId }),
  }
  const proof = { kind: 'package_accepted', ...acceptanceProof(accepted) }
  const { now } = submission
  const own = context.profile['O-26'].package_accepted.map((eventType) => ({
    event: toAuditEvent({ ...fact, eventType }, submission, trace),
    proof:
      eventType === context.profile['O-26'].package_accepted[0]
        ? proof
        : { kind: 'package_accepted', content_digest: row.content_digest },
  }))
  const unaccompanied = (own.length > 0 ? own : [{ proof }]).map((entry) => toDraft(row, entry, now))
  return [...receiptDrafts(receipt?.row, row, now), ...unaccompanied, ...answerDrafts(accepted)]
}

function receiptDrafts(receipt: PolicyReceiptRow | undefined, row: PackageRow, now: string): AuditDraft[] {
  if (!receipt) return []
  const policyReceiptId = receipt.policy_receipt_id
  return fromLines(receipt.audit_entries).map((text) => ({ ...draftFor(row, text, now), policyReceiptId }))
}

function answerDrafts({ submission, row, decision: { original } }: Accepted): AuditDraft[] {
  if (!original) return []
  const proof = {
    kind: 'response_accepted',
    response_package_id: row.package_id,
    content_digest: row.content_digest,
    // The evidence of the package that is answered has no other entry of its response.
    acceptance: submission.acceptance,
  }
  const isResponse = original.responds_to_package_id !== null
  const target = packageTarget(original.package_id, submission.context, isResponse)
  const fact = { threadId: row.thread_id, agentId: row.sender_agent_id, target }
  const kinds = submission.context.profile['O-26'].response_accepted
  const events = kinds.map((eventType) => ({ event: toAuditEvent({ ...fact, eventType }, submission) }))
  return (events.length > 0 ? events : [{}]).map((event) =>
    toDraft(original, { ...event, proof }, submission.now),
  )
}

function acceptanceProof({ submission, row, states }: Accepted) {
  return {
    content_digest: row.content_digest,
    ...(row.digest_rule !== null && { content_digest_rule: row.digest_rule }),
    signing_key_id: row.signing_key_id,
    policy_receipt_id: row.policy_receipt_id,
    states,
    acceptance: submission.acceptance,
  }
}

function acceptedEvent({ submission, row }: Accepted): LifecycleEvent {
  return toEvent({ ...row, state: 'accepted' }, 'package.accepted', submission)
}

function answeredPackage(submission: Submission, { original }: Decision): PackageRow | undefined {
  if (!original) return undefined
  const move = movePackage(
    original.state,
    'response_accepted',
    original.transport_mode,
    submission.context.profile,
  )
  return move.outcome === 'moved' ? { ...original, state: move.to, updated_at: submission.now } : undefined
}

function answeredEvents({ answered, submission }: Accepted): LifecycleEvent[] {
  if (!answered) return []
  const eventType = eventTypeFor(answered.state, submission.context.profile)
  return eventType === undefined ? [] : [toEvent(answered, eventType, submission)]
}
