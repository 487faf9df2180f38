import { verifyDetached } from '@agent-exchange/crypto'
import { isEarlier, type EvidenceEntry, type PackageMetadata } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import { readPages } from '../connection/read-pages.ts'

/** When a signed statement reached the exchange. */
export interface Arrival {
  /** As the resource says. Nobody signed it. */
  readonly stated: string
  /** As evidence proves it. Reads evidence, once for a package and its policy receipt. */
  readonly proved: () => Promise<string>
}

/** The platform's signed statement that it accepted a package (ours, O-07). */
interface Acceptance {
  readonly package_id: string
  readonly content_digest: string
  readonly signing_key_id: string
  readonly accepted_at: string
  readonly signature: { readonly key_id: string }
}

/** What the evidence of a package says about arrivals. */
interface Arrivals {
  readonly acceptance: Acceptance | undefined
  readonly policyReceiptAt: string | undefined
}

/** Errors that disprove the signed acceptance. */
const DISPROVING = new Set<ExchangeErrorCode>(['peer_unknown', 'peer_key_missing', 'peer_key_mismatch'])

/** Proved arrivals of a package and of its policy receipt. */
export interface ProvedArrivals {
  /** From the platform's signed statement. */
  packageAt(): Promise<string>
  /** From the record of the receipt, and not later than its package. */
  policyReceiptAt(): Promise<string>
}

/**
 * Arrivals from the evidence of a package, read on demand, once.
 *
 * @param acceptedKeyId the key that the exchange verified: of the envelope in native mode, of the manifest in ds_x
 */
export function arrivalReader(
  context: AgentContext,
  metadata: PackageMetadata,
  acceptedKeyId: string,
): ProvedArrivals {
  let known: Promise<Arrivals & { readonly packageAt: string }> | undefined
  const read = () => (known ??= readArrivals(context, metadata, acceptedKeyId))
  return {
    packageAt: async () => (await read()).packageAt,
    async policyReceiptAt() {
      const { packageAt, policyReceiptAt } = await read()
      const isKnown = policyReceiptAt !== undefined && isEarlier(policyReceiptAt, packageAt)
      return isKnown ? policyReceiptAt : packageAt
    },
  }
}

async function readArrivals(context: AgentContext, metadata: PackageMetadata, acceptedKeyId: string) {
  const found = await findArrivals(context, metadata)
  const { acceptance } = found
  const details = { packageId: metadata.package_id }
  const fits =
    acceptance?.content_digest === metadata.content_digest && acceptance.signing_key_id === acceptedKeyId
  if (!acceptance || !fits) throw new ExchangeError('peer_key_revoked', { details })
  try {
    const { peers, deployment } = context
    const { publicKey } = await peers.signingKey(
      deployment.profile['O-42'].agent_id,
      acceptance.signature.key_id,
    )
    await verifyDetached(acceptance, { member: 'signature', publicKey })
  } catch (cause) {
    // An unconfirmed key of the platform or a network failure proves nothing.
    if (cause instanceof ExchangeError && !DISPROVING.has(cause.code)) throw cause
    throw new ExchangeError('peer_key_revoked', { details, cause })
  }
  return { ...found, packageAt: acceptance.accepted_at }
}

async function findArrivals(
  { connection }: AgentContext,
  { package_id, policy_receipt_id }: PackageMetadata,
): Promise<Arrivals> {
  let acceptance: Acceptance | undefined
  let policyReceiptAt: string | undefined
  const path = { package_id }
  const pages = readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } }))
  for await (const { entries } of pages) {
    acceptance ??= entries.map(acceptanceIn).find((found) => found?.package_id === package_id)
    policyReceiptAt ??= arrivalOfReceipt(entries, policy_receipt_id)
    if (acceptance && policyReceiptAt !== undefined) break
  }
  return { acceptance, policyReceiptAt }
}

function acceptanceIn({ proof }: EvidenceEntry): Acceptance | undefined {
  return Reflect.get(proof, 'acceptance') as Acceptance | undefined
}

function arrivalOfReceipt(entries: readonly EvidenceEntry[], policyReceiptId: string): string | undefined {
  const entry = entries.find(
    ({ proof }) =>
      proof.kind === 'policy_receipt_accepted' && Reflect.get(proof, 'policy_receipt_id') === policyReceiptId,
  )
  const at: unknown = entry && Reflect.get(entry.proof, 'accepted_at')
  return typeof at === 'string' ? at : undefined
}
