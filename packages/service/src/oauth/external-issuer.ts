import type { Clock } from '@agent-exchange/server/clock'
import { issuerKeys, IssuerUnavailable } from '@agent-exchange/server/issuer'
import { Problem } from '../kernel/problem.ts'
import type { TokenIssuer } from './token-keys.ts'

/** An external issuer (AEX_ISSUER). While its keys cannot be fetched, requests are refused as unavailable. */
export function externalIssuer(issuer: string, clock: Clock): TokenIssuer {
  const keys = issuerKeys(issuer, clock)
  return {
    ...keys,
    isExternal: true,
    async keyOf(header, token) {
      try {
        return await keys.keyOf(header, token)
      } catch (error) {
        if (!(error instanceof IssuerUnavailable)) throw error
        const details = { reason: 'issuer_unavailable', retry_after_seconds: error.retryAfterSeconds }
        throw new Problem('service_overloaded', details, { cause: error })
      }
    },
  }
}
