import { hash } from 'node:crypto'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import { errors, jwtVerify, type JWTPayload } from 'jose'
import type { Clock } from '@agent-exchange/server/clock'
import { growingCache } from '../kernel/growing-cache.ts'
import { Problem } from '../kernel/problem.ts'
import type { ClientCertificate } from './client-certificate.ts'
import { readClaims, type VerifiedToken } from './token-claims.ts'
import type { TokenIssuer } from './token-keys.ts'

export interface TokenVerifierSettings {
  readonly issuer: TokenIssuer
  /** {base_url}: the only accepted audience. */
  readonly publicUrl: string
  readonly profile: DeploymentProfile
  readonly clock: Clock
}

/** Verifies the Authorization header and the certificate binding; throws a Problem on failure. */
export type TokenVerifier = (
  authorization: string | undefined,
  certificate: ClientCertificate | undefined,
) => Promise<VerifiedToken>

const MAXIMUM_CACHED_TOKENS = 20_000
/** RFC 6750 section 2.1; the scheme's name is case-insensitive (RFC 9110 section 11.1). */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i

/**
 * Verifies access tokens (RFC 9068 section 4). Results are cached by the token's hash until the token expires or the
 * issuer's keys change. The certificate binding is checked for each request.
 */
export function createTokenVerifier(settings: TokenVerifierSettings): TokenVerifier {
  const { profile, clock } = settings
  const cache = growingCache<VerifiedToken>(MAXIMUM_CACHED_TOKENS)
  let version: string | undefined

  return async (authorization, certificate) => {
    const token = readBearer(authorization, profile['O-08'].token_characters)
    const now = Date.parse(clock.now())
    const cacheKey = hash('sha256', token, 'base64')
    const latest = await settings.issuer.version?.()
    if (latest !== version) cache.clear()
    version = latest
    const known = cache.get(cacheKey)
    const verified = known && now < known.expires * 1_000 ? known : await verify(token, settings, now)
    if (verified !== known) cache.set(cacheKey, verified)
    requireBinding(verified, certificate, profile)
    return verified
  }
}

/** Our tokens have about 700 characters; those of external issuers may be longer. */
function readBearer(authorization: string | undefined, longest: number): string {
  if (authorization === undefined || authorization === '') throw new Problem('access_token_missing')
  if (authorization.length > longest) throw invalid('too_long')
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw invalid('malformed')
  return token
}

async function verify(
  token: string,
  { issuer, publicUrl, profile }: TokenVerifierSettings,
  now: number,
): Promise<VerifiedToken> {
  try {
    const { payload } = await jwtVerify(token, issuer.keyOf, {
      issuer: issuer.issuer,
      audience: publicUrl,
      typ: 'at+jwt',
      algorithms: [...issuer.algorithms],
      clockTolerance: profile['O-08'].clock_skew_seconds,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'iat', 'client_id', 'organization_id'],
    })
    if (issuer.isExternal) requireShortLife(payload, profile['O-08'], now / 1_000)
    const verified = readClaims(payload)
    requireCustomer(verified, profile)
    return verified
  } catch (error) {
    if (error instanceof Problem) throw error
    throw invalid(reasonOf(error), error)
  }
}

/** AUTH-01: tokens are short-lived. Counted from now where `iat` is in the future, which would extend the lifetime. */
function requireShortLife(
  { iat = Infinity, exp = Infinity }: JWTPayload,
  { clock_skew_seconds, external_token_seconds }: DeploymentProfile['O-08'],
  now: number,
): void {
  if (iat > exp) throw invalid('claim_iat')
  const from = Math.min(iat, now + clock_skew_seconds)
  if (exp - from > external_token_seconds)
    throw new Problem('access_token_invalid', {
      reason: 'lifetime_too_long',
      maximum_seconds: external_token_seconds,
    })
}

/** O-42: the exchange itself calls no operation. A token that names its organization would control its keys. */
function requireCustomer({ caller }: VerifiedToken, profile: DeploymentProfile): void {
  const { organization_id, agent_id } = profile['O-42']
  if (caller.organizationId === organization_id || caller.agentId === agent_id)
    throw new Problem('not_permitted', { caller: 'platform' })
}

/** RFC 8705 section 3: a bound token is valid only with its certificate. */
function requireBinding(
  { boundTo }: VerifiedToken,
  certificate: ClientCertificate | undefined,
  profile: DeploymentProfile,
): void {
  if (boundTo === undefined && profile['O-30'].require_mutual_tls)
    throw new Problem('client_certificate_required')
  if (boundTo !== undefined && boundTo !== certificate?.thumbprint)
    throw new Problem('client_certificate_mismatch')
}

function invalid(reason: string, cause?: unknown): Problem {
  return new Problem('access_token_invalid', { reason }, { cause })
}

/** A short reason for the client's developer, who cannot see our log. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `claim_${error.claim}`
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  return 'malformed'
}
