import type { FastifyRequest } from 'fastify'
import type { Database } from '../db/database.ts'
import type { Caller } from '../kernel/call.ts'
import { assertCallerActive, type IssuerKind } from '../oauth/caller-status.ts'
import type { CertificateReader } from '../oauth/client-certificate.ts'
import type { TokenVerifier } from '../oauth/token-verifier.ts'
import { noteFacts } from './request-facts.ts'
import { authorizationHeader } from './request-headers.ts'

export interface Authentication {
  readonly verifyToken: TokenVerifier
  readonly certificateOf: CertificateReader
  readonly issuerKind: IssuerKind
}

/** API-08, AUTH-01: the token, the certificate it is bound to, and whether its owner may still act. */
export async function authenticate(
  request: FastifyRequest,
  { verifyToken, certificateOf, issuerKind }: Authentication,
  db: Database,
): Promise<Caller> {
  const caller = await verifyToken(authorizationHeader(request.raw), certificateOf(request.raw))
  noteFacts(request, { organization_id: caller.organizationId })
  await assertCallerActive(db, caller, issuerKind)
  return caller
}
