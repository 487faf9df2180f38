import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Queries } from '../db/database.ts'
import { findActiveOperator } from '../features/organizations/operator-store.ts'
import { Problem } from '../kernel/problem.ts'

const TOKEN_BYTES = 32
/** So that a token that leaked into a file is recognized for what it is. */
const TOKEN_PREFIX = 'aexop_'
const BEARER = /^Bearer +(\S{1,256})$/i

export function newOperatorToken(): string {
  return TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
}

/** 256 random bits need no salt and no slow hash: there is nothing to guess. */
export function hashOfToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** The name behind a request's token. Unknown and disabled answer alike. */
export async function authenticateOperator(db: Queries, authorization: string | undefined): Promise<string> {
  if (authorization === undefined) throw new Problem('access_token_missing')
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw new Problem('access_token_invalid')
  const hash = hashOfToken(token)
  const operator = await findActiveOperator(db, hash)
  // The index was asked with a hash, which tells nothing about the token; the last word is compared in full.
  if (!operator || !timingSafeEqual(operator.token_hash, hash)) throw new Problem('access_token_invalid')
  return operator.name
}
