/** Where the OAuth parts of an exchange are found, all below {base_url}. */
export interface OAuthAddresses {
  /** {base_url} itself: with no path of its own, every way of discovery leads to one address. */
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

export function oauthAddresses(publicUrl: string): OAuthAddresses {
  return {
    issuer: publicUrl,
    tokenEndpoint: publicUrl + TOKEN_PATH,
    keys: publicUrl + KEYS_PATH,
    resourceMetadata: wellKnown(publicUrl, RESOURCE_METADATA_PATH),
  }
}

/** RFC 8414 section 3 and RFC 9728 section 3: the well-known part stands before a path of the identifier. */
export function wellKnown(identifier: string, path: string): string {
  return new URL(path + pathOf(identifier), identifier).href
}

/** The path of an address, empty where it has none. */
export function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}
