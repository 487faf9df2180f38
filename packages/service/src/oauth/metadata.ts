import { oauthAddresses } from './addresses.ts'

export const AUTHENTICATION_METHODS = [
  'private_key_jwt',
  'tls_client_auth',
  'self_signed_tls_client_auth',
] as const
export const ASSERTION_ALGORITHMS = ['ES256'] as const

/** RFC 8414: what the embedded authorization server can do. */
export function authorizationServerMetadata(publicUrl: string): object {
  const { issuer, tokenEndpoint, keys } = oauthAddresses(publicUrl)
  return {
    issuer,
    token_endpoint: tokenEndpoint,
    jwks_uri: keys,
    grant_types_supported: ['client_credentials'],
    // Required by the RFC, and empty: there is no authorization endpoint.
    response_types_supported: [],
    token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
    token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
    tls_client_certificate_bound_access_tokens: true,
    protected_resources: [publicUrl],
    service_documentation: `${publicUrl}/docs`,
  }
}

/** RFC 9728: which authorization server to ask, and how to present a token. */
export function protectedResourceMetadata({
  publicUrl,
  issuer = oauthAddresses(publicUrl).issuer,
}: {
  readonly publicUrl: string
  /** The outside issuer, where there is one. */
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
