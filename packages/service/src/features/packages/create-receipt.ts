import type { StatementForm } from '@agent-exchange/crypto'
import {
  isEarlier,
  type EdcReferences,
  type PackageTrigger,
  type ReceiptState,
} from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import type { AuthorizedCall, BatchMutation, Call } from '../../kernel/call.ts'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { agentStatuses } from '../agents/agent-store.ts'
import { holdKeys, lockNameOf } from '../keys/public-keys.ts'
import { requireSigningKey, type KeyState } from '../keys/signing-key.ts'
import { requireWithin } from '../organizations/usage-store.ts'
import type { CausedTransition } from './apply-transition.ts'
import { lockPackages, recordTransitions, requireParty } from './record-transitions.ts'
import { countReceipts, findReceipts, insertReceipts, receiptGroup, receiptName } from './receipt-store.ts'
import { keepSignatures, statementKey, verifyStatement } from './statements.ts'
import type { PackageRow } from './store.ts'

/** "rejected" and "failed" receipts are recorded and move nothing. */
const TRIGGERS: Partial<Record<ReceiptState, PackageTrigger>> = {
  received: 'receipt_received',
  opened: 'receipt_opened',
}

type ReceiptCall = AuthorizedCall<'createPackageReceipt', StatementForm>

/** PKG-08: signed by an agent of the recipient's organization (O-46). */
export const createPackageReceipt: BatchMutation<'createPackageReceipt', StatementForm> = {
  authorize: (call, db) => verifyStatement(call, call.body.actor_agent_id, db),

  queue: 'package_receipts',
  async runBatch(calls, tx) {
    const state = await loadState(tx, calls)
    const results = new Map(
      calls.map((each) => [each, resultOrProblem(() => requireReceivable(each.call, state))]),
    )
    await refuseReused(tx, results)
    const received = [...results].flatMap(([each, row]) => (row instanceof Problem ? [] : [{ each, row }]))
    if (received.length > 0) {
      await insertReceipts(
        tx,
        received.map(({ each }) => each),
      )
      await recordTransitions(
        tx,
        received.map(({ each, row }) => toTransition(each, row)),
      )
    }
    return [...results].map(([{ call }, row]) =>
      row instanceof Problem ? row : { ...call.body, package_id: row.package_id, accepted_at: call.now },
    )
  },
}

interface BatchState {
  readonly keys: ReadonlyMap<string, KeyState>
  readonly packages: ReadonlyMap<string, PackageRow>
  readonly agentStatuses: ReadonlyMap<string, string>
  /** Names and counts of existing receipts; each accepted receipt of the batch is added. */
  readonly taken: Set<string>
  readonly counts: Map<string, number>
}

async function loadState(tx: Transaction, calls: readonly ReceiptCall[]): Promise<BatchState> {
  const packageIds = calls.map(({ call }) => call.params.package_id)
  const [keys, statuses] = await Promise.all([
    holdKeys(
      tx,
      calls.map(({ call }) => statementKey(call, call.body.actor_agent_id)),
    ),
    agentStatuses(
      tx,
      calls.map(({ call }) => call.body.actor_agent_id),
    ),
  ])
  const packages = await lockPackages(tx, packageIds)
  const [taken, counts] = await Promise.all([findReceipts(tx, calls), countReceipts(tx, packageIds)])
  return { keys, packages, agentStatuses: statuses, taken, counts }
}

function requireReceivable(call: Call<'createPackageReceipt'>, state: BatchState): PackageRow {
  const { body, caller, now, params } = call
  const key = statementKey(call, body.actor_agent_id)
  requireSigningKey(state.keys.get(lockNameOf(key)), { arrivedAt: now })
  requireNotAhead(call)
  const row = requireParty(state.packages.get(params.package_id), caller.organizationId)
  requireActor(row, call, state)
  requireDigest(row, call)
  if (state.taken.has(receiptName(call))) throw new Problem('identifier_conflict')
  countIn(row, call, state)
  state.taken.add(receiptName(call))
  return row
}

/** ID-05, O-49: `occurred_at` is the recipient's claim. It is not later than its arrival, but for a difference of clocks. */
function requireNotAhead({ body, now, context }: Call<'createPackageReceipt'>): void {
  const latest = secondsAfter(now, context.profile['O-49'].receipt_seconds)
  if (!isEarlier(latest, body.occurred_at)) return
  const message = 'Use a time that is not later than now.'
  throw new Problem('validation_failed', { failures: [{ pointer: '/occurred_at', rule: 'O-49', message }] })
}

/** PKG-08, O-46. The signing key was found in the caller's organization, so the agent belongs to it. */
function requireActor(
  row: PackageRow,
  { body, caller, context }: Call<'createPackageReceipt'>,
  { agentStatuses: statuses }: BatchState,
): void {
  const isRecipient =
    row.recipient_org_id === caller.organizationId &&
    (context.profile['O-46'].receipts === 'organization' || row.recipient_agent_id === body.actor_agent_id)
  if (!isRecipient) throw new Problem('not_permitted', { reason: 'not_the_recipient' })
  if (statuses.get(body.actor_agent_id) !== 'active')
    throw new Problem('not_permitted', { reason: 'agent_not_active' })
}

/** O-13: each state has its own limit, so that many "rejected" receipts never block an "opened" one. */
function countIn(
  row: PackageRow,
  { body, context }: Call<'createPackageReceipt'>,
  { counts }: BatchState,
): void {
  const group = receiptGroup(row.package_id, body.state, row.recipient_agent_id === body.actor_agent_id)
  const wanted = (counts.get(group) ?? 0) + 1
  requireWithin(context.profile, 'receipts_per_state', wanted)
  counts.set(group, wanted)
}

/** O-23: the receipt identifies the received content by its digest. */
function requireDigest(row: PackageRow, { body, context }: Call<'createPackageReceipt'>): void {
  const known = { content_digest: row.content_digest, asset_digest: assetDigest(row) }
  const accepted =
    row.transport_mode === 'native' ? (['content_digest'] as const) : context.profile['O-23'].ds_x_digests
  if (!accepted.some((name) => known[name] === body.package_digest)) {
    throw new Problem('digest_mismatch', { member: 'package_digest' })
  }
}

function assetDigest({ edc }: PackageRow): string | undefined {
  return edc === null ? undefined : (JSON.parse(edc) as EdcReferences).asset_digest
}

/** Stores the signatures of receipts without a problem, and refuses those that belong to another package. */
async function refuseReused(tx: Transaction, results: Map<ReceiptCall, PackageRow | Problem>): Promise<void> {
  const sound = [...results].flatMap(([each, row]) => (row instanceof Problem ? [] : [{ each, row }]))
  const owners = await keepSignatures(
    tx,
    sound.map(({ each }) => each.call),
  )
  for (const [index, { each, row }] of sound.entries()) {
    if (owners[index] !== row.package_id) results.set(each, new Problem('signature_reused'))
  }
}

function toTransition({ call, found: form }: ReceiptCall, row: PackageRow): CausedTransition {
  const { state, ...statement } = call.body
  const transition = {
    trigger: isColleagueWhoOpened(call, row) ? undefined : TRIGGERS[state],
    kind: `receipt_${state}`,
    // Every signed member, so that others can verify the signature; `kind` has the state.
    proof: { ...statement, signature_form: form },
    auditKinds: state === 'received' ? call.context.profile['O-26'].receipt_received : [],
    agentId: call.body.actor_agent_id,
  }
  return { row, transition, cause: call }
}

/** O-46: by default only a receipt of the recipient agent itself proves access. */
function isColleagueWhoOpened({ body, context }: Call<'createPackageReceipt'>, row: PackageRow): boolean {
  const isColleague = body.actor_agent_id !== row.recipient_agent_id
  return isColleague && body.state === 'opened' && context.profile['O-46'].opened_by === 'recipient_agent'
}
