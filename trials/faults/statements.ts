import { signPackageStatement } from '@agent-exchange/crypto'
import { freshId, type Organization, type PackageDraft } from '@agent-exchange/testkit'

/** Signed bodies that can be sent repeatedly. */
export interface Statements {
  readonly receipt: object
  readonly revocation: object
}

/** A receipt by the recipient of one package, and a revocation by the sender of another. */
export async function signedStatements(
  sent: PackageDraft & { readonly to: Organization },
  doomed: PackageDraft & { readonly from: Organization },
): Promise<Statements> {
  const now = new Date().toISOString()
  const receipt = {
    receipt_id: freshId('rcpt'),
    state: 'received',
    occurred_at: now,
    actor_agent_id: sent.to.agentId,
    package_digest: sent.metadata.content_digest,
  }
  const revocation = { requested_at: now, reason_code: 'superseded', reason_detail: 'A newer one follows.' }
  return {
    receipt: await signed(sent.to, sent, receipt),
    revocation: await signed(doomed.from, doomed, revocation),
  }
}

async function signed({ signing }: Organization, { metadata }: PackageDraft, body: object): Promise<object> {
  const key = { key: signing.pair.privateKey, keyId: signing.keyId, packageId: metadata.package_id }
  return { ...body, signature: await signPackageStatement(body, key) }
}
