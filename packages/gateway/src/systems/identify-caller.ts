import type { Queries } from '@agent-exchange/database'
import { GatewayProblem } from '../problems.ts'
import { callerOfToken, type TokenRules } from './access-tokens.ts'
import { API_KEY_PREFIX, findSystemByKey } from './api-keys.ts'
import type { LastUse } from './last-use.ts'
import type { Caller } from './verbs.ts'

/** Says who sends a request; throws a problem if nobody that the gateway knows. */
export type IdentifyCaller = (authorization: string | undefined) => Promise<Caller>

/** Tokens of identity providers with many claims have about 4,000 characters. */
const LONGEST_HEADER = 16_384
/** RFC 6750 section 2.1; the scheme's name is case-insensitive (RFC 9110 section 11.1). */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/iu

/** Either an API key or, where an identity provider is set, one of its tokens. */
export function identifyCallers(
  db: Queries,
  { lastUse, tokens }: { readonly lastUse: LastUse; readonly tokens?: TokenRules | undefined },
): IdentifyCaller {
  return async (authorization) => {
    const credential = bearerOf(authorization)
    if (!credential.startsWith(API_KEY_PREFIX)) {
      if (tokens) return callerOfToken(credential, tokens)
      throw new GatewayProblem('access_token_invalid', { reason: 'malformed' })
    }
    const system = await findSystemByKey(db, credential)
    if (!system) throw new GatewayProblem('access_token_invalid', { reason: 'unknown_key' })
    lastUse.note(system.systemId)
    return { id: system.systemId, kind: 'system', agents: system.agents, verbs: system.verbs }
  }
}

/** Only tokens for the audience of the rules, and no API key. */
export function identifyByToken(tokens: TokenRules): IdentifyCaller {
  return async (authorization) => callerOfToken(bearerOf(authorization), tokens)
}

function bearerOf(authorization: string | undefined): string {
  if (authorization === undefined || authorization === '') throw new GatewayProblem('access_token_missing')
  const credential = authorization.length > LONGEST_HEADER ? undefined : BEARER.exec(authorization)?.[1]
  if (credential === undefined) throw new GatewayProblem('access_token_invalid', { reason: 'malformed' })
  return credential
}
