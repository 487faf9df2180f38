import type { ProblemCode } from '@agent-exchange/protocol'
import { oauthUrls } from './oauth-urls.ts'

/**
 * The WWW-Authenticate value of a refused request (RFC 6750 section 3, RFC 9728 section 5.1). A request without a token
 * gets no error code, as RFC 6750 section 3.1 asks.
 */
export function bearerChallenge(code: ProblemCode, publicUrl: string): string {
  const metadata = `resource_metadata="${oauthUrls(publicUrl).resourceMetadata}"`
  return code === 'access_token_missing' ? `Bearer ${metadata}` : `Bearer error="invalid_token", ${metadata}`
}
