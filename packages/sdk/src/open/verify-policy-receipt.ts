import { verifyPolicyReceipt } from '@agent-exchange/crypto'
import {
  isEligible,
  receiptDifferences,
  type PackageMetadata,
  type PolicyReceiptResource,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import type { ProvedArrivals } from './arrival.ts'
import { isNotFound } from '../connection/not-found.ts'
import { signatureFailure } from './explain-signature.ts'
import { requireKeyInTime } from './key-validity.ts'

/** POL-01 to POL-04, verified by the recipient. */
export async function requirePolicyReceipt(
  context: AgentContext,
  metadata: PackageMetadata,
  arrivals: ProvedArrivals,
): Promise<PolicyReceiptResource> {
  const resource = await readPolicyReceipt(context, metadata)
  const { receipt } = resource
  const key = await context.peers.signingKey(metadata.sender_agent_id, receipt.signature.key_id)
  // ID-05: by its own arrival. Its key may have been retired before the package arrived.
  await requireKeyInTime(key, receipt.evaluated_at, {
    stated: resource.accepted_at,
    proved: arrivals.policyReceiptAt,
  })
  await verifyPolicyReceipt(receipt, key.publicKey).catch(async (cause: unknown) => {
    throw await signatureFailure(context, {
      what: 'The policy receipt is not what the sender signed.',
      subject: { kind: 'policy_receipt', object: receipt },
      key,
      cause,
    })
  })
  const members = receiptDifferences(receipt, metadata)
  if (!isEligible(receipt, context.deployment.profile)) members.push('checks')
  if (members.length > 0)
    throw new ExchangeError('content_mismatch', {
      what: 'The policy receipt does not cover the package.',
      details: { members: members.map((member) => `policy_receipt.${member}`) },
    })
  return resource
}

async function readPolicyReceipt({ connection }: AgentContext, metadata: PackageMetadata) {
  try {
    return await connection.call('getPolicyReceipt', {
      path: { policy_receipt_id: metadata.policy_receipt_id },
    })
  } catch (error) {
    if (isNotFound(error))
      throw new ExchangeError('content_mismatch', {
        what: 'The policy receipt does not exist.',
        details: { members: ['metadata.policy_receipt_id'] },
        cause: error,
      })
    throw error
  }
}
