import type { FastifyRequest } from 'fastify'
import type { Caller } from '../kernel/call.ts'
import type { WalPosition } from '../kernel/wal-position.ts'
import type { CallerStatus } from '../oauth/caller-status.ts'
import type { CertificateReader } from '../oauth/client-certificate.ts'
import type { TokenVerifier } from '../oauth/token-verifier.ts'
import { markAuthenticated } from './connection-limit.ts'
import { addLogFields } from './request-log-fields.ts'
import { authorizationHeader } from './request-headers.ts'

export interface Authentication {
  readonly verifyToken: TokenVerifier
  readonly certificateOf: CertificateReader
  readonly requireActive: CallerStatus
}

export interface AdmittedCaller {
  readonly caller: Caller
  /** Of the primary, for reads from a replica. */
  readonly position: WalPosition | undefined
}

/** API-08, AUTH-01: verifies the token and its certificate binding, and that organization and client are active. */
export async function authenticate(
  request: FastifyRequest,
  { verifyToken, certificateOf, requireActive }: Authentication,
): Promise<AdmittedCaller> {
  const token = await verifyToken(authorizationHeader(request.raw), certificateOf(request.raw))
  const { caller } = token
  addLogFields(request, { organization_id: caller.organizationId })
  const position = await requireActive(token)
  markAuthenticated(request.raw.socket)
  return { caller, position }
}
