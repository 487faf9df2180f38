import { type JWTPayload, errors } from 'jose'
import type { Caller } from '../kernel/call.ts'

/** The claims of a verified token. */
export interface VerifiedToken {
  readonly caller: Caller
  /** The version of the credential it was issued to, from 0. */
  readonly credentialVersion: number
  /** Thumbprint of the certificate that the token is bound to. */
  readonly boundTo: string | undefined
  /** Seconds since 1970. */
  readonly expires: number
}

const ORGANIZATION_ID = /^org_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const AGENT_ID = /^agent_[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
const THUMBPRINT = /^[A-Za-z0-9_-]{43}$/

/** Reads the caller and the certificate binding from a verified token. */
export function readClaims(claims: JWTPayload): VerifiedToken {
  const { organization_id, agent_id, client_id, exp, credential_version } = claims
  if (typeof organization_id !== 'string' || !ORGANIZATION_ID.test(organization_id)) {
    throw refused(claims, 'organization_id')
  }
  if (agent_id !== undefined && (typeof agent_id !== 'string' || !AGENT_ID.test(agent_id))) {
    throw refused(claims, 'agent_id')
  }
  if (typeof client_id !== 'string' || client_id === '') throw refused(claims, 'client_id')
  if (exp === undefined) throw refused(claims, 'exp')
  return {
    caller: { organizationId: organization_id, agentId: agent_id, clientId: client_id },
    // Tokens of external issuers and of earlier releases lack this claim.
    credentialVersion: typeof credential_version === 'number' ? credential_version : 0,
    boundTo: readConfirmation(claims),
    expires: exp,
  }
}

/** RFC 7800 section 3.1: an unsupported confirmation method must not be ignored. */
function readConfirmation(claims: JWTPayload): string | undefined {
  const { cnf } = claims
  if (cnf === undefined) return undefined
  const thumbprint: unknown =
    typeof cnf === 'object' && cnf !== null && Object.keys(cnf).length === 1
      ? Reflect.get(cnf, 'x5t#S256')
      : undefined
  if (typeof thumbprint !== 'string' || !THUMBPRINT.test(thumbprint)) throw refused(claims, 'cnf')
  return thumbprint
}

function refused(claims: JWTPayload, claim: string): Error {
  return new errors.JWTClaimValidationFailed(`invalid ${claim}`, claims, claim, 'check_failed')
}
