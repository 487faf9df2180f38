import type { PackageEvidence, PackageReceiptRequest } from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { historyOf } from '../agents/key-history.ts'
import { findPackageOfParty, toPackageResource, type PackageRow } from '../packages/store.ts'
import { loadPolicyReceipts, toPolicyReceiptResource } from '../policy-receipts/store.ts'
import { evidencePage } from './evidence-page.ts'
import { keyUsesOf, suspicion } from './key-uses.ts'

/** Attempts shown; the operator keeps the rest. */
const MAXIMUM_ATTEMPTS = 500
const MAXIMUM_RECEIPTS = 1_000

/** AUD-01, ID-05: everything about one package that a verifier needs, also long after its keys have changed. */
export const getPackageAuditEvidence: Read<'getPackageAuditEvidence'> = async (call, db) => {
  const { caller, params, query, now, context } = call
  const { organizationId } = caller
  const row = await findPackageOfParty(db, params.package_id, organizationId)
  if (!row) throw new Problem('resource_not_found')
  const { package_id: packageId, thread_id: threadId } = row
  const [page, policyReceipts, receipts, attempts] = await Promise.all([
    evidencePage(db, { threadId, packageId, organizationId, query, now, context }),
    loadPolicyReceipts(db, [row.policy_receipt_id]),
    receiptsOf(db, row),
    attemptsOf(db, packageId, organizationId),
  ])
  const policyReceipt = policyReceipts.get(row.policy_receipt_id)
  if (!policyReceipt) throw new Error('a package without its policy receipt')
  const uses = await keyUsesOf(db, row, policyReceipt)
  const keys = await historyOf(db, [row.sender_agent_id, row.recipient_agent_id], uses)
  return {
    package_id: packageId,
    thread_id: threadId,
    ...page,
    package: toPackageResource(row, context, organizationId),
    policy_receipt: toPolicyReceiptResource(policyReceipt),
    receipts,
    delivery_attempts: attempts,
    key_history: keys.map((history) => ({ ...history, ...suspicion(history, uses) })),
  }
}

async function receiptsOf(db: Database, { package_id }: PackageRow): Promise<PackageEvidence['receipts']> {
  const rows = await db<{ body: string; signature_form: string; accepted_at: string }[]>`
    select body, signature_form, accepted_at from package_receipt where package_id = ${package_id}
    order by position limit ${MAXIMUM_RECEIPTS}`
  return rows.map(({ body, signature_form, accepted_at }) => ({
    ...(JSON.parse(body) as PackageReceiptRequest),
    package_id,
    accepted_at,
    signature_form,
  }))
}

/** Attempts to reach the caller's own endpoints; how the other side is reached is its own affair. */
async function attemptsOf(db: Database, packageId: string, organizationId: string) {
  const rows = await db<{ delivery_id: string; attempt: number; started_at: string; outcome: string }[]>`
    select delivery_id, delivery_attempt.attempt, started_at, outcome
    from delivery join delivery_attempt using (delivery_id)
    where package_id = ${packageId} and organization_id = ${organizationId}
    order by started_at, delivery_id limit ${MAXIMUM_ATTEMPTS}`
  return rows.map(({ delivery_id, attempt, started_at, outcome }) => ({
    delivery_id,
    attempt,
    attempted_at: started_at,
    outcome,
  }))
}
