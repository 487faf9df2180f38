import { randomBytes, randomUUID } from 'node:crypto'
import type { Queries } from '@agent-exchange/database'
import { MasterKeyError } from '@agent-exchange/server/master-key'
import { isLoopback } from '@agent-exchange/server/settings'
import { wrappedColumn } from '../stores/wrapped-rows.ts'
import { LONGEST_URL, MAXIMUM_ENDPOINTS } from './push-limits.ts'
import { SECRET_PREFIX } from './standard-webhook.ts'

/** Owner of the table push_endpoint. */

/** Wraps secrets by the master key. */
export interface SecretWrap {
  wrap(context: string, secret: Uint8Array): Uint8Array
  unwrap(context: string, wrapped: Uint8Array): Uint8Array
}

export interface PushEndpoint {
  readonly endpointId: string
  readonly agentId: string
  readonly url: string
  readonly secret: Uint8Array
}

interface EndpointRow {
  readonly endpoint_id: string
  readonly agent_id: string
  readonly url: string
  readonly secret: Uint8Array
}

const SECRET_BYTES = 32
const contextOf = (endpointId: string) => `push endpoint/${endpointId}`

/** An agent has one endpoint; the former one is removed. The secret is shown once. */
export async function addPushEndpoint(
  db: Queries,
  { agentId, url, allowedHosts }: { agentId: string; url: string; allowedHosts: ReadonlySet<string> },
  box: SecretWrap,
): Promise<{ readonly endpointId: string; readonly secret: string }> {
  requirePushUrl(url, allowedHosts)
  const endpointId = `push_${randomUUID()}`
  const secret = randomBytes(SECRET_BYTES)
  const { count } = await db`
    with former as (
      update push_endpoint set removed_at = now() where agent_id = ${agentId} and removed_at is null)
    insert into push_endpoint (endpoint_id, agent_id, url, secret)
    select ${endpointId}, ${agentId}, ${url}, ${box.wrap(contextOf(endpointId), secret)}
    where (select count(*) from push_endpoint where removed_at is null) < ${MAXIMUM_ENDPOINTS}`
  if (count === 0) throw new Error(`There are ${MAXIMUM_ENDPOINTS} endpoints. Remove one first.`)
  return { endpointId, secret: SECRET_PREFIX + secret.toString('base64') }
}

/** The host must be listed, with its port where that is not the usual one. Only loopback may do without TLS. */
export function requirePushUrl(url: string, allowedHosts: ReadonlySet<string>): URL {
  if (url.length > LONGEST_URL || !URL.canParse(url)) throw new Error('This is not a URL.')
  const parsed = new URL(url)
  const { protocol, host, hostname, username, password, hash } = parsed
  if (username !== '' || password !== '' || hash !== '')
    throw new Error('The URL has no user, password or fragment.')
  if (!allowedHosts.has(host))
    throw new Error(`${host} is not listed. An administrator lists it in AEX_GATEWAY_PUSH_HOSTS.`)
  const isLocal = protocol === 'http:' && isLoopback(hostname.replace(/^\[|\]$/gu, ''))
  if (protocol !== 'https:' && !isLocal) throw new Error('The URL is https.')
  return parsed
}

/** Without an endpoint whose secret the master key does not decrypt: it must not hold up the others. */
export async function listPushEndpoints(
  db: Queries,
  box: SecretWrap,
  onUnreadable: (endpointId: string) => void = () => undefined,
): Promise<PushEndpoint[]> {
  const rows = await db<EndpointRow[]>`
    select endpoint_id, agent_id, url, secret from push_endpoint where removed_at is null
    order by created_at limit ${MAXIMUM_ENDPOINTS}`
  return rows.flatMap(({ endpoint_id: endpointId, agent_id: agentId, url, secret: wrapped }) => {
    const secret = secretOf(box, endpointId, wrapped)
    if (secret) return [{ endpointId, agentId, url, secret }]
    onUnreadable(endpointId)
    return []
  })
}

function secretOf(box: SecretWrap, endpointId: string, wrapped: Uint8Array): Uint8Array | undefined {
  try {
    return box.unwrap(contextOf(endpointId), wrapped)
  } catch (error) {
    if (error instanceof MasterKeyError) return undefined
    throw error
  }
}

/** False if the agent has none. */
export async function removePushEndpoint(db: Queries, agentId: string): Promise<boolean> {
  const { count } = await db`
    update push_endpoint set removed_at = now() where agent_id = ${agentId} and removed_at is null`
  return count > 0
}

/** Secrets of push endpoints under the master key. */
export const wrappedEndpoints = wrappedColumn('push_endpoint', {
  what: 'secrets of push endpoints',
  column: 'secret',
  key: ['endpoint_id'],
  contextOf: ({ endpoint_id }) => contextOf(endpoint_id),
})
