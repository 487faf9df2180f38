import { oauthUrls } from './oauth-urls.ts'

export const AUTHENTICATION_METHODS = [
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
] as const
export const ASSERTION_ALGORITHMS = ['ES256'] as const

/** RFC 8414: metadata of the embedded authorization server. */
export function authorizationServerMetadata(publicUrl: string): object {
  const { issuer, tokenEndpoint, keys } = oauthUrls(publicUrl)
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    jwks_uri: keys,
    grant_types_supported: ['client_credentials'],
    // Required by RFC 8414, but empty because there is no authorization endpoint.
    response_types_supported: [],
    token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    tls_client_certificate_bound_access_tokens: true,
    protected_resources: [publicUrl],
    service_documentation: `${publicUrl}/docs`,
  }
}

/** RFC 9728: names the authorization server and how to present a token. */
export function protectedResourceMetadata({
  publicUrl,
  issuer = oauthUrls(publicUrl).issuer,
}: {
  readonly publicUrl: string
  /** The external issuer, if configured. */
  readonly issuer?: string | undefined
}): object {
  return {
    resource: publicUrl,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    tls_client_certificate_bound_access_tokens: true,
    resource_name: 'Agent Exchange',
    resource_documentation: `${publicUrl}/docs`,
  }
}
