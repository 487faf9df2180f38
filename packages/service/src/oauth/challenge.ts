import type { ProblemCode } from '@agent-exchange/protocol'
import { oauthAddresses } from './addresses.ts'

/**
 * The WWW-Authenticate value for a refused request (RFC 6750 section 3, RFC 9728 section 5.1). A request
 * without a token learns where to get one and no error code, as the RFC asks.
 */
export function bearerChallenge(code: ProblemCode, publicUrl: string): string {
  const metadata = `resource_metadata="${oauthAddresses(publicUrl).resourceMetadata}"`
  return code === 'access_token_missing' ? `Bearer ${metadata}` : `Bearer error="invalid_token", ${metadata}`
}
