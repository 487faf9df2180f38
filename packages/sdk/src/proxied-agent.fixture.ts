import assert from 'node:assert/strict'
import { startAgent, type TestAgent } from './agents.fixture.ts'
import { createContext, type ContextOptions } from './create-context.ts'
import { ExchangeError, type ExchangeErrorCode } from './errors.ts'
import { startProxiedWorld, type Passed, type ProxiedWorld, type Reply } from './meddling-proxy.fixture.ts'
import type { Connection } from './connection/connection.ts'

export const QUICK = { firstBackoffMs: 2, maximumBackoffMs: 8, timeoutMs: 5_000 }
export const TOKEN = '/oauth/token'
export const KEYS = /^\/v1\/directory\/agents\//
export const isKeys = ({ path }: Passed) => KEYS.test(path)

/** An agent whose way to a real exchange can be disturbed. */
export interface ProxiedAgent extends ProxiedWorld {
  readonly agent: TestAgent
  /** A new connection of the agent. */
  connect(limits?: ContextOptions['limits']): Connection
  /** A read that every agent may make. */
  read(connection: Connection, signal?: AbortSignal): Promise<{ readonly agent_id: string }>
  /** Lets everything pass again. */
  reset(): void
}

export async function startProxiedAgent(): Promise<ProxiedAgent> {
  const proxied = await startProxiedWorld()
  const agent = await startAgent(proxied.world, 'acme', { baseUrl: proxied.proxy.url })
  return {
    ...proxied,
    agent,
    connect: (limits = {}) => createContext({ ...agent.options, limits: { ...QUICK, ...limits } }).connection,
    read: (connection, signal) =>
      connection.call('getAgentKeys', {
        path: { agent_id: agent.identity.agentId },
        ...(signal && { signal }),
      }),
    reset: () => {
      proxied.proxy.before = () => undefined
      proxied.proxy.after = (_, reply) => reply
      proxied.proxy.passed.length = 0
    },
  }
}

/** Whether an error has this code, and says this about trying again. */
export const code = (expected: ExchangeErrorCode, retryable?: boolean) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, expected, error.message)
  if (retryable !== undefined) assert.equal(error.retryable, retryable)
  return true
}

/** A problem as the exchange would answer it. */
export function problem(
  status: number,
  name: string,
  retryable: boolean,
  headers: Record<string, string> = {},
): Reply {
  const body = {
    type: `https://exchange.example/problems/${name}`,
    title: name,
    status,
    code: name,
    correlation_id: 'corr_1',
    retryable,
    details: {},
  }
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify(body),
  }
}
