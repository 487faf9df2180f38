/** The OAuth URLs of an exchange, all below {base_url}. */
export interface OAuthUrls {
  /** {base_url} itself. Without a path, all discovery methods yield the same URL. */
  readonly issuer: string
  readonly tokenEndpoint: string
  readonly keys: string
  /** RFC 9728. */
  readonly resourceMetadata: string
}

export const TOKEN_PATH = '/oauth/token'
export const KEYS_PATH = '/oauth/jwks'
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server'
export const OPENID_METADATA_PATH = '/.well-known/openid-configuration'

export function oauthUrls(publicUrl: string): OAuthUrls {
  return {
    issuer: publicUrl,
    tokenEndpoint: publicUrl + TOKEN_PATH,
    keys: publicUrl + KEYS_PATH,
    resourceMetadata: wellKnownUrl(publicUrl, RESOURCE_METADATA_PATH),
  }
}

/** RFC 8414 section 3 and RFC 9728 section 3: the well-known path is inserted before the path of the identifier. */
export function wellKnownUrl(identifier: string, path: string): string {
  return new URL(path + pathOf(identifier), identifier).href
}

/** The path of a URL without a final slash; empty for the root. */
export function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}
