import { hash } from 'node:crypto'
import type { PackageMetadata, Signature } from '@agent-exchange/protocol'
import type { Cause } from '../audit/audit-event.ts'

/** The platform's signed statement that it accepted this digest, under this key, at this time. */
export interface AcceptanceStatement {
  readonly statement: 'package_accepted'
  readonly package_id: string
  readonly thread_id: string
  readonly content_digest: string
  /** SHA-256 over RFC 8785 of the metadata: no member can be changed later. */
  readonly metadata_digest: string
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
  { metadataText, signingKeyId }: { readonly metadataText: string; readonly signingKeyId: string },
  { now, context }: Pick<Cause, 'now' | 'context'>,
): Promise<AcceptanceStatement> {
  // Members in RFC 8785 order, the order that is signed.
  const statement = {
    accepted_at: now,
    content_digest,
    metadata_digest: `sha-256=:${hash('sha256', metadataText, 'base64')}:`,
    package_id,
    signing_key_id: signingKeyId,
    statement: 'package_accepted' as const,
    thread_id,
  }
  return { ...statement, signature: await context.platform.sign(statement, 'signature') }
}
