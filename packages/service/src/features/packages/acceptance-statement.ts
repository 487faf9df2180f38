import type { PackageMetadata, Signature } from '@agent-exchange/protocol'
import type { Cause } from '../audit/audit-event.ts'

/** The platform's own word that it accepted this digest under this key at this time. */
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
 * Signed before the batch, where no lock waits for it. It becomes true, and leaves this process, only with the commit;
 * that of a submission that is refused is thrown away.
 */
export async function signAcceptance(
  { package_id, thread_id, content_digest }: PackageMetadata,
  signingKeyId: string,
  { now, context }: Pick<Cause, 'now' | 'context'>,
): Promise<AcceptanceStatement> {
  // In the order of RFC 8785, in which it is signed.
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
