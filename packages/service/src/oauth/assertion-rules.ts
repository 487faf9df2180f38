import type { DeploymentProfile } from '@agent-exchange/protocol'
import { errors } from 'oidc-provider'

interface AssertionRules {
  readonly profile: DeploymentProfile
  /** The issuer and the token endpoint. */
  readonly audiences: readonly string[]
  /** In seconds since 1970. */
  readonly now: number
}

/**
 * What oidc-provider leaves to the deployment about a client assertion whose signature and expiry it has
 * already checked.
 */
export function requireUsableAssertion(
  claims: Readonly<Record<string, unknown>>,
  rules: AssertionRules,
): void {
  const { assertion_seconds, assertion_id_characters, clock_skew_seconds } = rules.profile['O-08']
  const { aud, exp, iat, jti } = claims

  // An assertion that is good at several places could be passed on by one of them to another.
  const audience: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud
  if (typeof audience !== 'string' || !rules.audiences.includes(audience)) throw refused('audience')

  if (typeof jti !== 'string' || jti.length > assertion_id_characters) throw refused('jti')

  if (typeof exp !== 'number') throw refused('exp')
  if (exp > rules.now + assertion_seconds + clock_skew_seconds) throw refused('lifetime')
  if (iat === undefined) return
  if (typeof iat !== 'number' || iat > rules.now + clock_skew_seconds) throw refused('issued in the future')
  if (exp - iat > assertion_seconds) throw refused('lifetime')
}

/** Every failed authentication looks the same to the client; the detail is for the operator's log. */
function refused(detail: string): Error {
  return new errors.InvalidClientAuth(`client assertion: ${detail}`)
}
