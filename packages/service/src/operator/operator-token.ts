import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Queries } from '@agent-exchange/database'
import { findActiveOperator } from '../features/operators/operator-store.ts'
import type { Operator } from '../kernel/operator-roles.ts'
import { Problem } from '../kernel/problem.ts'

const TOKEN_BYTES = 32
/** Lets secret scanners recognize a leaked token. */
const TOKEN_PREFIX = 'aexop_'
const BEARER = /^Bearer +(\S{1,256})$/i

export function newOperatorToken(): string {
  return TOKEN_PREFIX + randomBytes(TOKEN_BYTES).toString('base64url')
}

/** A token of 256 random bits needs neither salt nor a slow hash. */
export function hashToken(token: string): Uint8Array {
  return createHash('sha256').update(token).digest()
}

/** Unknown and disabled operators get the same problem. */
export async function authenticateOperator(
  db: Queries,
  authorization: string | undefined,
): Promise<Operator> {
  if (authorization === undefined) throw new Problem('access_token_missing')
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) throw new Problem('access_token_invalid')
  return operatorOfToken(db, token)
}

export async function operatorOfToken(db: Queries, token: string): Promise<Operator> {
  const hash = hashToken(token)
  const operator = await findActiveOperator(db, hash)
  // The lookup by hash reveals nothing about the token; the final comparison takes constant time.
  if (!operator || !timingSafeEqual(operator.token_hash, hash)) throw new Problem('access_token_invalid')
  return { name: operator.name, role: operator.role }
}
