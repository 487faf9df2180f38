import {
  isEarlier,
  type PackageEvidence,
  type PackageReceiptRequest,
  type PackageRevocationRequest,
} from '@agent-exchange/protocol'
import type { Database } from '../../db/database.ts'
import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { historyOf } from '../agents/key-history.ts'
import { findPackageOfParty, toPackageResource, type PackageRow } from '../packages/store.ts'
import { loadPolicyReceipts, toPolicyReceiptResource } from '../policy-receipts/store.ts'
import { evidencePage } from './evidence-page.ts'

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
  const [page, policyReceipts, receipts, revocations, attempts, keys] = await Promise.all([
    evidencePage(db, { threadId, packageId, organizationId, query, now, context }),
    loadPolicyReceipts(db, [row.policy_receipt_id]),
    receiptsOf(db, row),
    revocationsOf(db, row),
    attemptsOf(db, packageId, organizationId),
    historyOf(db, [row.sender_agent_id, row.recipient_agent_id]),
  ])
  const policyReceipt = policyReceipts.get(row.policy_receipt_id)
  if (!policyReceipt) throw new Error('a package without its policy receipt')
  const uses = [
    {
      agentId: row.sender_agent_id,
      keyId: policyReceipt.signing_key_id,
      acceptedAt: policyReceipt.accepted_at,
    },
    { agentId: row.sender_agent_id, keyId: row.signing_key_id, acceptedAt: row.accepted_at },
    ...receipts.map(({ actor_agent_id: agentId, signature, accepted_at: acceptedAt }) => ({
      agentId,
      keyId: signature.key_id,
      acceptedAt,
    })),
    ...revocations,
  ]
  return {
    package_id: packageId,
    thread_id: threadId,
    ...page,
    package: toPackageResource(row, context),
    policy_receipt: toPolicyReceiptResource(policyReceipt),
    receipts,
    delivery_attempts: attempts,
    key_history: keys.map((history) => ({ ...history, ...suspicion(history, uses) })),
  }
}

/** A signature about the package: the package's own, its policy receipt's, a receipt's or the revocation's. */
interface KeyUse {
  readonly agentId: string
  readonly keyId: string
  readonly acceptedAt: string
}

/** Accepted although the key was already bad, because nobody had said so yet. */
function suspicion({ agent_id, key }: PackageEvidence['key_history'][number], uses: readonly KeyUse[]) {
  const own = uses.filter(({ agentId, keyId }) => agentId === agent_id && keyId === key.key_id)
  if (own.length === 0 || key.invalid_from === undefined) return {}
  return {
    accepted_after_invalid_from: own.some(
      ({ acceptedAt }) => isEarlier(acceptedAt, key.invalid_from) === false,
    ),
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

async function revocationsOf(db: Database, row: PackageRow): Promise<KeyUse[]> {
  const rows = await db<{ body: string; revoked_at: string }[]>`
    select body, revoked_at from package_revocation where package_id = ${row.package_id}`
  return rows.map(({ body, revoked_at }) => ({
    agentId: row.sender_agent_id,
    keyId: (JSON.parse(body) as PackageRevocationRequest).signature.key_id,
    acceptedAt: revoked_at,
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
