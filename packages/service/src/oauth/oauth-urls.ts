import { RESOURCE_METADATA_PATH, wellKnownUrl } from '@agent-exchange/server/issuer'

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

export function oauthUrls(publicUrl: string): OAuthUrls {
  return {
    issuer: publicUrl,
    tokenEndpoint: publicUrl + TOKEN_PATH,
    keys: publicUrl + KEYS_PATH,
    resourceMetadata: wellKnownUrl(publicUrl, RESOURCE_METADATA_PATH),
  }
}
