import {
  canonicalBytes,
  encodeBase64url,
  parseDigest,
  sha256Digest,
  signPackageStatement,
} from '@agent-exchange/crypto'
import type { PackageResource, ReceiptResource, ReceiptState } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { readPages } from '../connection/read-pages.ts'

/**
 * PKG-08: sends a signed receipt that is bound to the package. Idempotent: the receipt id is derived from package,
 * state and agent. If the exchange already has the receipt, it is returned.
 *
 * @example
 * const { accepted_at } = await sendPackageReceipt(context, resource, 'received')
 */
export async function sendPackageReceipt(
  context: AgentContext,
  resource: PackageResource,
  state: ReceiptState,
  signal?: AbortSignal,
): Promise<ReceiptResource> {
  const { identity, connection, now } = context
  const { package_id: packageId } = resource
  const body = {
    receipt_id: await receiptId(packageId, state, identity.agentId),
    state,
    occurred_at: now().toISOString(),
    actor_agent_id: identity.agentId,
    package_digest: digestOf(context, resource),
  }
  const signature = await signPackageStatement(body, { ...(await currentSigningKey(context)), packageId })
  try {
    return await connection.call('createPackageReceipt', {
      path: { package_id: packageId },
      body: { ...body, signature },
      ...(signal && { signal }),
    })
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error
    if (error.problem?.code === 'identifier_conflict')
      return earlierReceipt(context, packageId, body.receipt_id, error)
    throw error
  }
}

async function receiptId(packageId: string, state: ReceiptState, agentId: string): Promise<string> {
  const digest = await sha256Digest(canonicalBytes({ package_id: packageId, state, actor_agent_id: agentId }))
  return `rcpt_${encodeBase64url(parseDigest(digest))}`
}

/** O-23. */
function digestOf({ deployment: { profile } }: AgentContext, { metadata, edc }: PackageResource): string {
  const isTaken = edc === undefined || profile['O-23'].ds_x_digests.includes('content_digest')
  return isTaken ? metadata.content_digest : edc.asset_digest
}

async function earlierReceipt(
  { connection, identity }: AgentContext,
  packageId: string,
  id: string,
  conflict: ExchangeError,
): Promise<ReceiptResource> {
  const path = { package_id: packageId }
  const pages = readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } }))
  for await (const { receipts } of pages) {
    const found = receipts.find(
      ({ receipt_id, actor_agent_id }) => receipt_id === id && actor_agent_id === identity.agentId,
    )
    if (found) return found
  }
  throw conflict
}
