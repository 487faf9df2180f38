import { signPackageStatement } from '@agent-exchange/crypto'
import { freshId, type Organization, type PackageDraft } from '@agent-exchange/testkit'

/** Bodies that stay the same however often they are sent. */
export interface Statements {
  readonly receipt: object
  readonly revocation: object
}

/** What the recipient signs about one package, and the sender about another. */
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
