import type { AgentServerDependencies } from '../http/dependencies.ts'
import type { ReadReplica } from '../kernel/read-replica.ts'
import { createAuthorizationServer } from '../oauth/authorization-server.ts'
import { createCallerStatus } from '../oauth/caller-status.ts'
import { createCertificateReader } from '../oauth/client-certificate.ts'
import { externalIssuer } from '../oauth/external-issuer.ts'
import { oauthUrls } from '../oauth/oauth-urls.ts'
import { createProxySecretCheck } from '../oauth/proxy-secret.ts'
import { embeddedIssuer } from '../oauth/token-keys.ts'
import { createTokenVerifier } from '../oauth/token-verifier.ts'
import type { Base } from './base.ts'
import type { Exchange } from './open-exchange.ts'

interface AuthenticationSettings {
  /** PEM text of what AEX_TLS_CLIENT_CA contains now. */
  readonly clientCa: () => string | undefined
  readonly replica: ReadReplica | undefined
}

/** Who calls: certificates, tokens of our issuer or of another one, and whether the caller is active. */
export function createAuthentication(
  { config, db, clock, log }: Base,
  { platformKeys: { tokenKeys } }: Exchange,
  { clientCa, replica }: AuthenticationSettings,
) {
  const { profile, publicUrl, trustedProxies, proxySecret, issuer: outside } = config
  const hasProxySecret = createProxySecretCheck(proxySecret)
  if (trustedProxies.length > 0 && proxySecret === undefined)
    log.warn(
      'any program on the machine of a trusted proxy can claim a client certificate: set AEX_PROXY_SECRET_FILE',
    )
  const certificateOf = createCertificateReader({ trustedProxies, hasProxySecret, clientCa, clock })
  const addresses = oauthUrls(publicUrl)
  const isEmbedded = outside === undefined
  const issuer = isEmbedded ? embeddedIssuer(addresses.issuer, tokenKeys) : externalIssuer(outside, clock)
  const authentication: AgentServerDependencies['authentication'] = {
    certificateOf,
    requireActive: createCallerStatus(db, isEmbedded ? 'embedded' : 'external', {
      readsPosition: replica !== undefined,
    }),
    verifyToken: createTokenVerifier({ issuer, publicUrl, profile, clock }),
  }
  const authorizationServer = isEmbedded
    ? createAuthorizationServer({
        db,
        publicUrl,
        profile,
        clock,
        tokenKeys,
        certificateOf,
        onError: (error) => log.error({ err: error }, 'authorization server failed'),
        onRefusal: (refusal) => log.warn(refusal, 'token refused'),
      })
    : undefined
  return { authentication, authorizationServer, hasProxySecret, tokenUrl: addresses.tokenEndpoint }
}
