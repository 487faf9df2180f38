import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { KeycloakWorld } from './keycloak-world.ts'

export interface Called {
  readonly status: number
  readonly code: unknown
  readonly details: unknown
  readonly retryAfter: string | null
}

/** Reads an agent with a given token. */
export async function callWith(
  { world, acme }: KeycloakWorld,
  token: string,
  fetch = globalThis.fetch,
): Promise<Called> {
  const response = await fetch(`${world.url}/v1/agents/${acme.identity.agentId}`, {
    headers: { authorization: `Bearer ${token}`, 'x-correlation-id': randomUUID() },
  })
  const { code, details } = (await response.json()) as Record<string, unknown>
  return { status: response.status, code, details, retryAfter: response.headers.get('retry-after') }
}

export function assertAccepted({ status, code, details }: Called): void {
  assert.equal(status, 200, JSON.stringify({ code, details }))
}

/** 401 with the code and, where given, the reason. */
export function assertRefused(called: Called, code: string, reason?: string): void {
  assert.deepEqual([called.status, called.code], [401, code])
  if (reason !== undefined) assert.deepEqual(called.details, { reason })
}
