import type { EvidenceEntry, PackageEvidence } from '@agent-exchange/protocol'
import type { ReplicaRead } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { toPackageResource } from '../packages/package-resource.ts'
import { findPackageOfParty } from '../packages/store.ts'
import { loadPolicyReceipts, toPolicyReceiptResource } from '../policy-receipts/store.ts'
import { attemptsOf } from './delivery-attempts.ts'
import { chainPage, entryLists, pagingOf } from './evidence-page.ts'
import { signingKeysOf } from './signing-keys.ts'

/** AUD-01, ID-05: everything that a verifier needs about one package, even long after key changes. */
export const getPackageAuditEvidence: ReplicaRead<'getPackageAuditEvidence'> = async (call, db) => {
  const { caller, params, query, now, context, pause } = call
  const { organizationId } = caller
  const row = await findPackageOfParty(db, params.package_id, organizationId)
  if (!row) throw new Problem('resource_not_found')
  const { package_id: packageId, thread_id: threadId } = row
  const request = { threadId, packageId, organizationId, query, context, pause }
  const paging = pagingOf(request)
  const policyReceipt = (await loadPolicyReceipts(db, [row.policy_receipt_id])).get(row.policy_receipt_id)
  if (!policyReceipt) throw new Error('the policy receipt of the package is missing')
  const [chain, attempts, keys] = await Promise.all([
    chainPage(db, request, paging),
    attemptsOf(db, { packageId, organizationId }, paging),
    signingKeysOf(db, row, policyReceipt),
  ])
  const lists = entryLists(chain.items)
  // The download URL is not evidence.
  const { ciphertext_download_url: _address, ...shown } = toPackageResource(row, context, organizationId)
  return {
    package_id: packageId,
    thread_id: threadId,
    generated_at: now,
    ...lists,
    package: shown,
    policy_receipt: toPolicyReceiptResource(policyReceipt),
    receipts: receiptsIn(lists.entries, packageId),
    delivery_attempts: [...attempts.items],
    key_history: keys,
    ...paging.after(chain, attempts),
  }
}

type Receipt = PackageEvidence['receipts'][number] & { readonly signature_form: string }

const RECEIPT_KIND = 'receipt_'

/** The signed receipts, rebuilt from the entries of this page. The kind of an entry contains the state. */
function receiptsIn(entries: readonly EvidenceEntry[], packageId: string): Receipt[] {
  const receipts = entries.flatMap(({ proof }) => {
    if (!proof.kind.startsWith(RECEIPT_KIND)) return []
    const {
      receipt_id,
      occurred_at,
      actor_agent_id,
      package_digest,
      signature,
      signature_form,
      accepted_at,
    } = proof as unknown as Omit<Receipt, 'accepted_at'> & { accepted_at?: string }
    const state = proof.kind.slice(RECEIPT_KIND.length) as Receipt['state']
    const signed = { receipt_id, state, occurred_at, actor_agent_id, package_digest, signature }
    // The first release recorded a receipt at the time of its acceptance.
    const added = { accepted_at: accepted_at ?? proof.recorded_at, signature_form }
    return [{ ...signed, package_id: packageId, ...added }]
  })
  // One receipt may have several audit events (O-26).
  return [...new Map(receipts.map((receipt) => [receipt.receipt_id, receipt])).values()]
}
