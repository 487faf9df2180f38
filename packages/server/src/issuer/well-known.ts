export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource'
export const SERVER_METADATA_PATH = '/.well-known/oauth-authorization-server'
export const OPENID_METADATA_PATH = '/.well-known/openid-configuration'

/** RFC 8414 section 3 and RFC 9728 section 3: the well-known path is inserted before the path of the identifier. */
export function wellKnownUrl(identifier: string, path: string): string {
  return new URL(path + pathOf(identifier), identifier).href
}

/** The path of a URL without a final slash; empty for the root. */
export function pathOf(address: string): string {
  return new URL(address).pathname.replace(/\/$/, '')
}
