import { IssuerUnavailable, type IssuerKeys } from '@agent-exchange/server/issuer'
import { errors, jwtVerify, type JWTPayload } from 'jose'
import { GatewayProblem } from '../problems.ts'
import { ALL_AGENTS, isVerb, type Caller } from './verbs.ts'

/** The identity provider of the company. */
export type TokenSource = Pick<IssuerKeys, 'issuer' | 'algorithms' | 'keyOf'>

export interface TokenRules {
  readonly source: TokenSource
  /** The only accepted audience: the API and the MCP server each have their own. */
  readonly audience: string
  readonly kind: Caller['kind']
  readonly now: () => Date
}

const CLOCK_SKEW_SECONDS = 60
/** A token that lives longer cannot be withdrawn in time. */
const LONGEST_LIFE_SECONDS = 86_400
const MAXIMUM_SCOPES = 200
const SCOPE_PREFIX = 'aex:'
const AGENT_SCOPE_PREFIX = 'aex:agent:'
const LONGEST_SUBJECT = 256

/**
 * Verifies an access token (RFC 9068 section 4) and reads what it permits from its scopes: `aex:VERB`, and `aex:agent:ID`
 * or `aex:agent:*`. A token without such scopes permits nothing.
 */
export async function callerOfToken(token: string, rules: TokenRules): Promise<Caller> {
  const { source, audience, kind, now } = rules
  const payload = await verified(token, source, audience, now())
  const scopes = scopesOf(payload)
  const agents = scopes
    .filter((scope) => scope.startsWith(AGENT_SCOPE_PREFIX))
    .map((scope) => scope.slice(AGENT_SCOPE_PREFIX.length))
    .filter((agentId) => agentId !== '')
  const verbs = scopes
    .filter((scope) => scope.startsWith(SCOPE_PREFIX))
    .map((scope) => scope.slice(SCOPE_PREFIX.length))
    .filter(isVerb)
  const subject = subjectOf(payload)
  return {
    id: `token:${subject}`,
    kind,
    agents: agents.includes(ALL_AGENTS) ? [ALL_AGENTS] : agents,
    verbs,
    holder: { issuer: source.issuer, subject: payload.sub ?? '' },
  }
}

async function verified(
  token: string,
  source: TokenSource,
  audience: string,
  now: Date,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, source.keyOf, {
      issuer: source.issuer,
      audience,
      algorithms: [...source.algorithms],
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: now,
      requiredClaims: ['exp', 'iat', 'sub'],
    })
    const { exp = Infinity, iat = 0 } = payload
    const from = Math.min(iat, now.getTime() / 1_000 + CLOCK_SKEW_SECONDS)
    if (exp - from > LONGEST_LIFE_SECONDS) throw invalid('lifetime_too_long')
    return payload
  } catch (error) {
    if (error instanceof GatewayProblem) throw error
    if (error instanceof IssuerUnavailable)
      throw new GatewayProblem(
        'service_overloaded',
        { reason: 'issuer_unavailable', retry_after_seconds: error.retryAfterSeconds },
        { cause: error },
      )
    throw invalid(reasonOf(error), error)
  }
}

/** RFC 8693 section 4.2 has a string; some providers write a list, or name it `scp`. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given: unknown = scope ?? scp
  const list: unknown[] = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : []
  if (list.length > MAXIMUM_SCOPES) throw invalid('too_many_scopes')
  return list.filter((each) => typeof each === 'string')
}

/** The program rather than its user, where the token names both. */
function subjectOf({ sub = '', client_id, azp }: JWTPayload): string {
  const named: unknown = client_id ?? azp ?? sub
  const subject = typeof named === 'string' ? named : sub
  if (subject === '' || subject.length > LONGEST_SUBJECT) throw invalid('claim_sub')
  return subject
}

function invalid(reason: string, cause?: unknown): GatewayProblem {
  return new GatewayProblem('access_token_invalid', { reason }, { cause })
}

function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `claim_${error.claim}`
  if (error instanceof errors.JWKSNoMatchingKey) return 'unknown_key'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  return 'malformed'
}
