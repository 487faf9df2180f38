import type { AddressInfo } from 'node:net'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { generateKeyPair, signDetached } from '@agent-exchange/crypto'
import { type Database, inTransaction } from '@agent-exchange/database'
import { insertOperator } from '../features/operators/operator-store.ts'
import { createOperatorBodyBudget } from '../http/body-budget.ts'
import { handMadeContext } from '../kernel/hand-made-call.fixture.ts'
import type { OperatorRole } from '../kernel/operator-roles.ts'
import type { OperatorDependencies } from './dependencies.ts'
import { hashToken, newOperatorToken } from './operator-token.ts'
import { createOperatorServer, OPERATOR_BASE_PATH } from './server.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown> & { readonly items?: Record<string, unknown>[] }
}

/** For tests without connection limits. */
export const UNLIMITED: OperatorDependencies['connections'] = {
  total: Infinity,
  perAddress: Infinity,
  isProxy: () => false,
  proxiesOnly: false,
  onLimit: () => undefined,
}

const notUsed = () => Promise.reject(new Error('not used in this test'))
const NO_KEYS = { rotate: notUsed, list: notUsed, revoke: notUsed }

/** For tests: the operator API on a loopback port, with an operator `admin` and a platform key. */
export async function startOperatorPlane(db: Database, changes: Partial<OperatorDependencies> = {}) {
  const { publicKey, privateKey: key } = await generateKeyPair('signing')
  const keyId = 'statement-1'
  const logged: object[] = []
  const server = createOperatorServer({
    db,
    context: handMadeContext({
      platform: { sign: (statement, member) => signDetached(statement, { keyId, key, member }) },
    }),
    log: { error: (fields) => void logged.push(fields) },
    webhookKeys: {
      directory: notUsed,
      rotate: notUsed,
      list: notUsed,
      revoke: notUsed,
      currentKeyId: notUsed,
    },
    masterKeys: () => ({ current: new Uint8Array(32) }),
    rotatingKeys: { token: NO_KEYS, statement: NO_KEYS, log: NO_KEYS },
    settings: [],
    metrics: { contentType: 'text/plain; version=0.0.4', metrics: () => Promise.resolve('aex_up 1\n') },
    isReady: () => true,
    connections: UNLIMITED,
    bodies: createOperatorBodyBudget(DEFAULT_PROFILE),
    ...changes,
  })
  const token = await addOperator(db, 'admin')
  await server.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`

  async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(url + OPERATOR_BASE_PATH + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Answer['body']
    return { status: response.status, headers: response.headers, body: answer } satisfies Answer
  }

  return {
    url,
    token,
    publicKey,
    logged,
    get: (path: string, headers?: Record<string, string>) => request('GET', path, undefined, headers),
    post: (path: string, body: unknown, headers?: Record<string, string>) =>
      request('POST', path, body, headers),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** For tests: creates an operator and returns its token. */
export async function addOperator(
  db: Database,
  name: string,
  role: OperatorRole = 'administrator',
): Promise<string> {
  const token = newOperatorToken()
  const now = '2026-03-02T08:00:00.000Z'
  await inTransaction(db, (tx) => insertOperator(tx, { name, role, tokenHash: hashToken(token), now }))
  return token
}
