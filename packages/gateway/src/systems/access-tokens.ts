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
/** Longer than providers issue (OpenID Connect Core section 2: 255), and without NUL, which PostgreSQL refuses. */
const SUBJECT = /^[^\p{Cc}]{1,256}$/u

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
  const { sub: subject = '' } = payload
  return {
    id: `token:${programOf(payload)}`,
    kind,
    agents: agents.includes(ALL_AGENTS) ? [ALL_AGENTS] : agents,
    verbs,
    holder: { issuer: source.issuer, subject },
  }
}

async function verified(
  token: string,
  source: TokenSource,
  audience: string,
  now: Date,
): Promise<JWTPayload> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, source.keyOf, {
      issuer: source.issuer,
      audience,
      algorithms: [...source.algorithms],
      clockTolerance: CLOCK_SKEW_SECONDS,
      currentDate: now,
      requiredClaims: ['exp', 'iat', 'sub'],
    })
    requireAccessToken(protectedHeader.typ, payload)
    if (![payload.sub, programOf(payload)].every(isSubject)) throw invalid('claim_sub')
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

/** RFC 9068 section 2.1 and what widespread providers write instead. Absent: RFC 7519 leaves it optional. */
const ACCESS_TOKEN_TYPES: ReadonlySet<string> = new Set(['at+jwt', 'application/at+jwt', 'jwt'])
/** Claims of ID tokens (OpenID Connect Core sections 2 and 3.3.2.11), which no access token has. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash']
/** Keycloak names the kind of a token in a claim `typ`, and access tokens `Bearer`. */
const KEYCLOAK_ID_TOKEN = 'ID'

/** Decision 0041: a token of another kind from the same issuer for the same audience is none. */
function requireAccessToken(typ: string | undefined, payload: JWTPayload): void {
  if (typ !== undefined && !ACCESS_TOKEN_TYPES.has(typ.toLowerCase())) throw invalid('type')
  if (payload['typ'] === KEYCLOAK_ID_TOKEN || ID_TOKEN_CLAIMS.some((claim) => payload[claim] !== undefined))
    throw invalid('id_token')
}

/** RFC 8693 section 4.2 has a string; some providers write a list, or name it `scp`. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given: unknown = scope ?? scp
  const list: unknown[] = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : []
  if (list.length > MAXIMUM_SCOPES) throw invalid('too_many_scopes')
  return list.filter((each) => typeof each === 'string')
}

const isSubject = (name: unknown) => typeof name === 'string' && SUBJECT.test(name)

/** The program rather than its user, where the token names both. */
function programOf({ sub = '', client_id, azp }: JWTPayload): string {
  const named: unknown = client_id ?? azp
  return typeof named === 'string' ? named : sub
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
