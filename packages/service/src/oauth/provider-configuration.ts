import { TOKEN_REFUSALS, type DeploymentProfile, type TokenRefusalCode } from '@agent-exchange/protocol'
import { type Configuration, errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '@agent-exchange/database'
import { type Clock, systemClock } from '@agent-exchange/server/clock'
import type { TokenKey, TokenKeySource } from '../platform-keys/token-keys.ts'
import { oauthUrls, TOKEN_PATH } from './oauth-urls.ts'
import { requireUsableAssertion } from './assertion-rules.ts'
import type { CertificateReader } from './client-certificate.ts'
import { ASSERTION_ALGORITHMS, AUTHENTICATION_METHODS } from './metadata.ts'
import { CLAIMS, providerAdapter, REFUSAL } from './provider-adapter.ts'
import { TokenSigningKey } from './token-signing-key.ts'

export interface ProviderSettings {
  readonly db: Database
  readonly publicUrl: string
  readonly profile: DeploymentProfile
  readonly clock: Clock
  readonly tokenKeys: TokenKeySource
  readonly certificateOf: CertificateReader
}

/** oidc-provider with only the client credentials grant enabled. */
export function providerConfiguration(
  settings: ProviderSettings,
  tokenKeys: readonly TokenKey[],
): Configuration {
  const { profile, publicUrl, certificateOf } = settings
  const { access_token_seconds, clock_skew_seconds } = profile['O-08']
  const certificate = (ctx: KoaContextWithOIDC) => certificateOf(ctx.req)
  return {
    adapter: providerAdapter(settings.db),
    jwks: {
      keys: tokenKeys.map((key) => new TokenSigningKey(key)),
    },
    routes: { token: TOKEN_PATH },
    scopes: [],
    responseTypes: [],
    clientAuthMethods: [...AUTHENTICATION_METHODS],
    enabledJWA: { clientAuthSigningAlgValues: [...ASSERTION_ALGORITHMS] },
    clientDefaults: {
      grant_types: ['client_credentials'],
      response_types: [],
      id_token_signed_response_alg: 'ES256',
    },
    extraClientMetadata: { properties: [...CLAIMS, REFUSAL] },
    clockTolerance: clock_skew_seconds,
    ttl: { ClientCredentials: access_token_seconds },
    clientBasedCORS: () => false,
    renderError: (ctx, out) => {
      ctx.body = out
    },
    findAccount: () => undefined,
    assertJwtClientAuthClaimsAndHeader: (_ctx, claims) => {
      const { issuer, tokenEndpoint } = oauthUrls(publicUrl)
      // The library checks expiry against the system clock, so these checks must use it too.
      const now = Math.floor(Date.parse(systemClock.now()) / 1_000)
      requireUsableAssertion(claims, { profile, audiences: [issuer, tokenEndpoint], now })
    },
    features: {
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // A request without a resource means the only one.
        defaultResource: () => publicUrl,
        getResourceServerInfo: (_ctx, resource, client) => {
          requireNotRefused(client[REFUSAL])
          if (resource !== publicUrl && resource !== `${publicUrl}/`) throw new errors.InvalidTarget()
          return {
            scope: '',
            audience: publicUrl,
            accessTokenFormat: 'jwt',
            accessTokenTTL: access_token_seconds,
            jwt: { sign: { alg: 'ES256', ...(tokenKeys[0] && { kid: tokenKeys[0].keyId }) } },
          }
        },
      },
      mTLS: {
        enabled: true,
        tlsClientAuth: true,
        selfSignedTlsClientAuth: true,
        certificateBoundAccessTokens: true,
        getCertificate: (ctx) => certificate(ctx)?.certificate,
        certificateAuthorized: (ctx) => {
          const presented = certificate(ctx)
          return presented !== undefined && presented.authorityFailure() === undefined
        },
        certificateSubjectMatches: (ctx, property, expected) =>
          property === 'tls_client_auth_san_dns' &&
          // RFC 8705 section 2.1.2: the exact name, without wildcards.
          certificate(ctx)?.certificate.checkHost(expected, { subject: 'never', wildcards: false }) !==
            undefined,
      },
    },
    formats: {
      customizers: {
        jwt(ctx, token, parts) {
          const now = Math.floor(Date.parse(settings.clock.now()) / 1_000)
          const thumbprint = certificate(ctx)?.thumbprint
          const { client } = token
          Object.assign(parts.payload, {
            iat: now,
            exp: now + access_token_seconds,
            ...Object.fromEntries(CLAIMS.map((name) => [name, client?.[name]])),
            // O-30: a presented certificate binds the token, whatever the authentication method.
            ...(thumbprint !== undefined && { cnf: { 'x5t#S256': thumbprint } }),
          })
        },
      },
    },
  }
}

/** Called after the client has authenticated: nobody else learns that it is suspended. */
function requireNotRefused(refusal: unknown): void {
  if (refusal === undefined) return
  const error_description = TOKEN_REFUSALS[refusal as TokenRefusalCode]
  throw Object.assign(new errors.InvalidClientAuth(error_description), { error_description })
}
