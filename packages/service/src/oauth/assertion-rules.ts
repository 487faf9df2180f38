import type { DeploymentProfile } from '@agent-exchange/protocol'
import { errors } from 'oidc-provider'

interface AssertionRules {
  readonly profile: DeploymentProfile
  /** The issuer and the token endpoint. */
  readonly audiences: readonly string[]
  /** In seconds since 1970. */
  readonly now: number
}

/** Checks that oidc-provider leaves to the deployment. It has already verified signature and expiry. */
export function requireUsableAssertion(
  claims: Readonly<Record<string, unknown>>,
  rules: AssertionRules,
): void {
  const { assertion_seconds, assertion_id_characters, clock_skew_seconds } = rules.profile['O-08']
  const { aud, exp, iat, jti } = claims

  // With several audiences, one of them could replay the assertion to another.
  const audience: unknown = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud
  if (typeof audience !== 'string' || !rules.audiences.includes(audience)) throw refused('audience')

  if (typeof jti !== 'string' || jti.length > assertion_id_characters) throw refused('jti')

  if (typeof exp !== 'number') throw refused('exp')
  if (exp > rules.now + assertion_seconds + clock_skew_seconds) throw refused('lifetime')
  if (iat === undefined) return
  if (typeof iat !== 'number' || iat > rules.now + clock_skew_seconds) throw refused('issued in the future')
  if (exp - iat > assertion_seconds) throw refused('lifetime')
}

/** The client gets the same response for every failure; the detail is for the operator's log. */
function refused(detail: string): Error {
  return new errors.InvalidClientAuth(`client assertion: ${detail}`)
}
