import type { FastifyRequest } from 'fastify'
import type { Caller } from '../kernel/call.ts'
import type { CallerStatus } from '../oauth/caller-status.ts'
import type { CertificateReader } from '../oauth/client-certificate.ts'
import type { TokenVerifier } from '../oauth/token-verifier.ts'
import { noteAuthenticated } from './connection-limit.ts'
import { noteFacts } from './request-facts.ts'
import { authorizationHeader } from './request-headers.ts'

export interface Authentication {
  readonly verifyToken: TokenVerifier
  readonly certificateOf: CertificateReader
  readonly requireActive: CallerStatus
}

/** API-08, AUTH-01: the token, the certificate it is bound to, and whether its owner may still act. */
export async function authenticate(
  request: FastifyRequest,
  { verifyToken, certificateOf, requireActive }: Authentication,
): Promise<Caller> {
  const token = await verifyToken(authorizationHeader(request.raw), certificateOf(request.raw))
  const { caller } = token
  noteFacts(request, { organization_id: caller.organizationId })
  await requireActive(token)
  noteAuthenticated(request.raw.socket)
  return caller
}
