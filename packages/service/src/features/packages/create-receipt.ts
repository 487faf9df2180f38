import type { StatementForm } from '@agent-exchange/crypto'
import type { EdcReferences, PackageTrigger, ReceiptState } from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import type { AuthorizedCall, Call, GroupMutation } from '../../kernel/call.ts'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { holdKeys, lockNameOf } from '../keys/public-keys.ts'
import { requireSigningKey, type KeyState } from '../keys/signing-key.ts'
import { lockPackages, recordFacts, requireParty, type FactReport } from './move.ts'
import { findReceipts, insertReceipts, receiptName } from './receipt-store.ts'
import { keepSignatures, statementKey, verifyStatement } from './statements.ts'
import type { PackageRow } from './store.ts'

/** What the recipient says moves the package; that it rejected or failed is recorded and moves nothing. */
const TRIGGERS: Partial<Record<ReceiptState, PackageTrigger>> = {
  received: 'receipt_received',
  opened: 'receipt_opened',
}

type ReceiptCall = AuthorizedCall<'createPackageReceipt', StatementForm>

/** PKG-08: signed by the recipient agent. */
export const createPackageReceipt: GroupMutation<'createPackageReceipt', StatementForm> = {
  authorize: (call, db) => verifyStatement(call, call.body.actor_agent_id, db),

  async runAll(calls, tx) {
    const state = await loadState(tx, calls)
    const results = new Map(
      calls.map((each) => [each, resultOrProblem(() => requireReceivable(each.call, state))]),
    )
    await refuseReused(tx, results)
    const reports = [...results].flatMap(([each, row]) =>
      row instanceof Problem ? [] : [{ each, report: toReport(each, row) }],
    )
    if (reports.length > 0) {
      await insertReceipts(
        tx,
        reports.map(({ each }) => each),
      )
      await recordFacts(
        tx,
        reports.map(({ report }) => report),
      )
    }
    return [...results].map(([{ call }, row]) =>
      row instanceof Problem ? row : { ...call.body, package_id: row.package_id, accepted_at: call.now },
    )
  },
}

interface Known {
  readonly keys: ReadonlyMap<string, KeyState>
  readonly packages: ReadonlyMap<string, PackageRow>
  /** Receipts there are, and those of this batch as they are judged. */
  readonly taken: Set<string>
}

async function loadState(tx: Transaction, calls: readonly ReceiptCall[]): Promise<Known> {
  const keys = await holdKeys(
    tx,
    calls.map(({ call }) => statementKey(call, call.body.actor_agent_id)),
  )
  const packages = await lockPackages(
    tx,
    calls.map(({ call }) => call.params.package_id),
  )
  return { keys, packages, taken: await findReceipts(tx, calls) }
}

function requireReceivable(call: Call<'createPackageReceipt'>, state: Known): PackageRow {
  const { body, caller, now, params } = call
  const key = statementKey(call, body.actor_agent_id)
  requireSigningKey(state.keys.get(lockNameOf(key)), body.occurred_at, now)
  const row = requireParty(state.packages.get(params.package_id), caller.organizationId)
  if (row.recipient_agent_id !== body.actor_agent_id)
    throw new Problem('not_permitted', { reason: 'not_the_recipient' })
  requireDigest(row, call)
  if (row.state === 'revoked') throw new Problem('invalid_state_transition', { state: row.state })
  if (state.taken.has(receiptName(call))) throw new Problem('identifier_conflict')
  state.taken.add(receiptName(call))
  return row
}

/** O-23: the receipt names what was received by its digest. */
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

/** Keeps the signatures of those that nothing else stands against, and refuses those that belong elsewhere. */
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

function toReport({ call, found: form }: ReceiptCall, row: PackageRow): FactReport {
  const { state, ...statement } = call.body
  const fact = {
    trigger: TRIGGERS[state],
    kind: `receipt_${state}`,
    // All that was signed (the kind says the state), or nobody else could verify it.
    proof: { ...statement, signature_form: form },
    auditKinds: state === 'received' ? call.context.profile['O-26'].receipt_received : [],
    agentId: call.body.actor_agent_id,
  }
  return { row, fact, cause: call }
}
