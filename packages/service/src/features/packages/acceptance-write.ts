import { chainStart } from '@agent-exchange/log'
import { movePackage, parseInstant, type PackageState } from '@agent-exchange/protocol'
import { afterCommit, deferToCommit, type Transaction } from '@agent-exchange/database'
import { packageTarget, toAuditEvent, traceOf } from '../audit/audit-event.ts'
import { EMPTY_THREAD, linkEntries, type AuditDraft, type ChainEnd, type ThreadEnd } from '../audit/chain.ts'
import { fromLines } from '../audit/entry-text.ts'
import { insertAuditRecords } from '../audit/record-store.ts'
import { emitEvents, type LifecycleEvent } from '../notifications/emit-events.ts'
import { addUsage, type UsageChange } from '../organizations/usage-store.ts'
import type { PolicyReceiptRow } from '../policy-receipts/store.ts'
import { pairName, saveThreads, type ThreadRow } from '../threads/store.ts'
import type { Decision } from './acceptance-decision.ts'
import type { AcceptanceState } from './acceptance-state.ts'
import { applyTransition, type AppliedTransition } from './apply-transition.ts'
import { sentBy } from './daily-quotas.ts'
import { draftFor, toDraft, toEvent } from './package-events.ts'
import { insertContents } from './content-store.ts'
import { chainsOf, insertPackages, updatePackages, withChain, type PackageRow } from './store.ts'
import type { Submission } from './submission.ts'

/** An accepted submission with its place in the thread. */
export interface Accepted {
  readonly submission: Submission
  readonly decision: Decision
  readonly row: PackageRow
  /** States that acceptance reaches; the last one is stored. */
  readonly states: readonly PackageState[]
  /** The transition of the package that a response answers. */
  readonly answered: AppliedTransition | undefined
}

export function toAccepted(submission: Submission, decision: Decision): Accepted {
  const states = statesOnAcceptance(submission)
  const row = toRow(submission, decision, states.at(-1) ?? 'accepted')
  return { submission, decision, states, row, answered: answerOriginal(submission, row, decision) }
}

/**
 * Writes all of them in the transaction of the batch. No statement is awaited before the commit. The last one locks the
 * counters of the streams, which every batch needs.
 */
export function writeAccepted(tx: Transaction, accepted: readonly Accepted[], state: AcceptanceState): void {
  const drafts = accepted.flatMap((each) => auditDrafts(each, state))
  const threads = new Map(accepted.map(({ row, decision }) => [row.thread_id, decision.thread.end]))
  const touched = accepted.flatMap(({ row, decision: { original } }) => (original ? [original, row] : [row]))
  const { records, ends } = linkEntries({ threads, packages: chainsOf(touched) }, drafts)
  const events = accepted.flatMap((each) => [acceptedEvent(each), ...(each.answered?.events ?? [])])
  const contents = accepted.flatMap(({ submission: { content }, row }) =>
    content.transport === 'native'
      ? [{ package_id: row.package_id, expires_at: row.expires_at, parts: content.parts }]
      : [],
  )
  deferToCommit(
    tx,
    saveThreads(tx, threadRows(accepted, ends.threads)),
    insertPackages(
      tx,
      accepted.map(({ row }) => withChain(row, ends.packages)),
    ),
    insertContents(tx, contents),
    insertAuditRecords(tx, records),
    addUsage(tx, accepted.map(usageOf)),
    // After the insert: the answered package may belong to the same batch.
    updatePackages(tx, answeredRows(accepted, ends.packages)),
  )
  emitEvents(tx, events, accepted[0]?.submission.context.directClaims)
  afterCommit(tx, () => accepted.forEach(reportStates))
}

/** The answered packages: those that moved, and all that have a chain of their own. Each once, in its last state. */
function answeredRows(accepted: readonly Accepted[], ends: ReadonlyMap<string, ChainEnd>): PackageRow[] {
  const rows = new Map<string, PackageRow>()
  for (const { decision, answered } of accepted) {
    const row = answered?.moved ?? decision.original
    if (row && (answered?.moved || ends.has(row.package_id))) rows.set(row.package_id, withChain(row, ends))
  }
  return [...rows.values()]
}

function reportStates({ submission: { context }, row, states, answered }: Accepted): void {
  for (const state of states) context.onPackageState(state, row.transport_mode)
  if (answered?.moved) context.onPackageState(answered.moved.state, answered.moved.transport_mode)
}

/** O-13: the content counts as stored, the policy receipt as used, and the package for its day. */
function usageOf({ submission, decision, row }: Accepted): UsageChange {
  return {
    organizationId: row.sender_org_id,
    policyReceipts: -1,
    storedBytes: bytesOf(submission),
    sent: sentBy(submission, decision),
  }
}

export function bytesOf({ content }: Submission): number {
  return content.transport === 'native' ? content.bytes : 0
}

/** The last package of a thread has its package count; every package may add pairs. */
function threadRows(accepted: readonly Accepted[], ends: ReadonlyMap<string, ThreadEnd>): ThreadRow[] {
  return [...Map.groupBy(accepted, ({ row }) => row.thread_id).values()].flatMap((ofThread) =>
    ofThread.slice(-1).map(({ row }) => ({
      isNew: ofThread[0]?.decision.thread.packageCount === 0,
      thread_id: row.thread_id,
      transport_mode: row.transport_mode,
      created_at: row.accepted_at,
      package_count: row.thread_position,
      end: ends.get(row.thread_id) ?? EMPTY_THREAD,
      joining: ofThread.flatMap(({ decision }) => decision.newPairs.map((pair) => pairName(...pair))),
    })),
  )
}

/** Acceptance itself stores native content, and may reference a ds_x transfer. */
function statesOnAcceptance({ content, context }: Submission): PackageState[] {
  const hasTransfer = content.transport === 'ds_x' && content.edc.transfer_process_id !== undefined
  const trigger =
    content.transport === 'native' ? 'content_stored' : hasTransfer ? 'transfer_referenced' : undefined
  const move = trigger && movePackage('accepted', trigger, content.transport, context.profile)
  return move?.outcome === 'moved' ? ['accepted', ...move.implied, move.to] : ['accepted']
}

function toRow(
  submission: Submission,
  { thread, receiptSignature }: Decision,
  state: PackageState,
): PackageRow {
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
    metadata: submission.metadataText,
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
    receipt_signature: receiptSignature,
    ...emptyChain(submission, receiptSignature),
  }
}

/** Version 2 begins once no process of an older release is left: that one would add entries of version 1. */
function emptyChain({ metadata, context }: Submission, receiptSignature: string) {
  if (context.evidenceVersion() === 1) return { chain_position: null, chain_link: null }
  const { package_id: packageId, thread_id: threadId, content_digest: contentDigest } = metadata
  return {
    chain_position: 0,
    chain_link: chainStart({ packageId, threadId, contentDigest, receiptSignature }),
  }
}

const LATEST_MILLISECOND = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * PKG-12: rounded up to the millisecond, the resolution of our clock. The metadata keep the time as written, with
 * digits and leap seconds that PostgreSQL does not store.
 */
function inMilliseconds(time: string): string {
  const { seconds, fraction } = parseInstant(time) ?? { seconds: 0, fraction: '' }
  const more = fraction.length > 3 ? 1 : 0
  const milliseconds = seconds * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0')) + more
  return new Date(Math.min(milliseconds, LATEST_MILLISECOND)).toISOString()
}

/** Entries of the policy receipt, of the package with its signed acceptance, and of the package that it answers. */
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
  const ownDrafts = (own.length > 0 ? own : [{ proof }]).map((entry) => toDraft(row, entry, now))
  return [...receiptDrafts(receipt?.row, row, now), ...ownDrafts, ...(accepted.answered?.drafts ?? [])]
}

function receiptDrafts(receipt: PolicyReceiptRow | undefined, row: PackageRow, now: string): AuditDraft[] {
  if (!receipt) return []
  const policyReceiptId = receipt.policy_receipt_id
  return fromLines(receipt.audit_entries).map((text) => ({ ...draftFor(row, text, now), policyReceiptId }))
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

/** PKG-09: the response moves the package that it answers. */
function answerOriginal(
  submission: Submission,
  row: PackageRow,
  { original }: Decision,
): AppliedTransition | undefined {
  if (!original) return undefined
  const transition = {
    trigger: 'response_accepted',
    kind: 'response_accepted',
    proof: {
      response_package_id: row.package_id,
      content_digest: row.content_digest,
      // Evidence of the answered package has no other entry of its response.
      acceptance: submission.acceptance,
    },
    auditKinds: submission.context.profile['O-26'].response_accepted,
    agentId: row.sender_agent_id,
  } as const
  return applyTransition({ row: original, transition, cause: submission })
}
