import type { PackageMetadata, Signature } from '@agent-exchange/protocol'
import type { Cause } from '../audit/audit-event.ts'

/** The platform's signed statement that it accepted this digest, under this key, at this time. */
export interface AcceptanceStatement {
  readonly statement: 'package_accepted'
  readonly package_id: string
  readonly thread_id: string
  readonly content_digest: string
  readonly signing_key_id: string
  readonly accepted_at: string
  readonly signature: Signature
}

/**
 * Signed before the batch, when no lock is held. It leaves this process only after the commit; the statement of a refused
 * submission is discarded.
 */
export async function signAcceptance(
  { package_id, thread_id, content_digest }: PackageMetadata,
  signingKeyId: string,
  { now, context }: Pick<Cause, 'now' | 'context'>,
): Promise<AcceptanceStatement> {
  // Members in RFC 8785 order, the order that is signed.
  const statement = {
    accepted_at: now,
    content_digest,
    package_id,
    signing_key_id: signingKeyId,
    statement: 'package_accepted' as const,
    thread_id,
  }
  return { ...statement, signature: await context.platform.sign(statement, 'signature') }
}
