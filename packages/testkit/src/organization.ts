import { randomBytes, randomUUID } from 'node:crypto'
import { generateKeyPair } from '@agent-exchange/crypto'
import { PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { requireListed } from './listed-problems.ts'
import { requestToken } from './oauth-client.ts'
import type { Answer, Organization, OrganizationOptions, RequestOptions, World } from './test-world.ts'

export async function createOrganization(
  world: World,
  name: string,
  options: OrganizationOptions,
): Promise<Organization> {
  const tail = `${name}_${randomBytes(8).toString('hex')}`
  const [organizationId, agentId] = [`org_${tail}`, `agent_${tail}`]
  const [clientKey, signing, encryption] = await Promise.all([
    generateKeyPair('signing'),
    generateKeyPair('signing'),
    generateKeyPair('encryption'),
  ])
  await provision(world, '/organizations', { organization_id: organizationId, name })
  const client = await provision(world, '/clients', {
    organization_id: organizationId,
    public_jwk: clientKey.publicKey.jwk,
  })
  const organization = organizationOf(world, {
    organizationId,
    agentId,
    clientId: String(client['client_id']),
    clientKey,
    signing: { keyId: `sig_${name}`, pair: signing },
    encryption: { keyId: `enc_${name}`, pair: encryption },
    options,
  })
  if (!options.unregistered) {
    const answer = await organization.post('/v1/agents/register', organization.registration())
    if (answer.status !== 201) throw new Error(`registering ${agentId}: ${answer.text}`)
  }
  return options.agentBound ? boundToAgent(organization) : organization
}

/** The same organization with a client of its agent. */
export async function boundToAgent(organization: Organization): Promise<Organization> {
  const { world, organizationId, agentId, clientKey } = organization
  const client = await provision(world, '/clients', {
    organization_id: organizationId,
    agent_id: agentId,
    public_jwk: clientKey.publicKey.jwk,
  })
  return organizationOf(world, { ...organization, clientId: String(client['client_id']), options: {} })
}

type Parts = Pick<
  Organization,
  'organizationId' | 'agentId' | 'clientId' | 'clientKey' | 'signing' | 'encryption'
> & {
  options: OrganizationOptions
}

function organizationOf(world: World, parts: Parts): Organization {
  const { options, ...identity } = parts
  let current: { token: string; until: number } | undefined
  async function token(): Promise<string> {
    if (!current || Date.parse(world.clock.now()) > current.until) {
      const { access_token, expires_in = 0 } = await requestToken({
        baseUrl: world.url,
        clientId: identity.clientId,
        credential: { method: 'private_key_jwt', key: identity.clientKey.privateJwk },
      })
      current = { token: access_token, until: Date.parse(world.clock.now()) + (expires_in - 60) * 1_000 }
    }
    return current.token
  }
  async function call(method: string, path: string, request: RequestOptions): Promise<Answer> {
    const headers = new Headers({
      authorization: `Bearer ${await token()}`,
      'x-correlation-id': request.correlationId ?? randomUUID(),
    })
    if (method === 'POST') {
      headers.set('content-type', 'application/json')
      headers.set('idempotency-key', request.idempotencyKey ?? randomUUID())
    }
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      if (value === undefined) headers.delete(name)
      else headers.set(name, value)
    }
    const body = request.raw ?? (request.body === undefined ? undefined : JSON.stringify(request.body))
    const url = path.startsWith('http') ? path : `${request.at ?? world.url}${path}`
    const response = await fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body }),
      redirect: 'manual',
      ...(request.signal && { signal: request.signal }),
    })
    const text = await response.text()
    const answer = { status: response.status, headers: response.headers, text, body: parsed(text) }
    requireListed(method, new URL(url).pathname, answer)
    return answer
  }
  return {
    ...identity,
    world,
    token,
    registration: () => ({
      organization_id: identity.organizationId,
      agent_id: identity.agentId,
      implementation: 'testkit',
      implementation_version: '1.0.0',
      protocol_versions: options.protocolVersions ?? [PROTOCOL_VERSION],
      skill_versions: { skill_alignment: '1.0.0' },
      transport_modes: options.transportModes ?? ['native', 'ds_x'],
      keys: [publicKey(identity.signing, 'signing'), publicKey(identity.encryption, 'encryption')],
    }),
    get: (path, request = {}) => call('GET', path, request),
    post: (path, body, request = {}) => call('POST', path, { ...request, body }),
  }
}

function publicKey({ keyId, pair }: Organization['signing'], use: 'signing' | 'encryption') {
  return {
    key_id: keyId,
    use,
    format: 'jwk' as const,
    public_key: pair.publicKey.jwk,
    valid_from: '2026-01-01T00:00:00Z',
  }
}

async function provision(world: World, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await world.operate('POST', path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
