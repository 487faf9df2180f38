import { randomUUID } from 'node:crypto'
import { readConfiguration } from '../configuration.ts'
import { clientOf } from '../service/judge-service.ts'
import { discoverTokenEndpoint, requestToken } from '../wire/access-token.ts'
import { httpTransport } from '../wire/http-transport.ts'
import type { Values } from './options.ts'

const TIMEOUT_MS = 15_000

/** `aex-conformance token BASE_URL ORGANIZATION_ID --config FILE`: for the curl commands of a report. */
export async function newToken(words: readonly string[], { config }: Values): Promise<string> {
  const [baseUrl, organizationId] = words
  if (baseUrl === undefined || organizationId === undefined || config === undefined)
    throw new Error(
      'Name service, organization and file: aex-conformance token BASE_URL ORGANIZATION_ID --config FILE',
    )
  const service = readConfiguration(config, baseUrl)
  const settings = service.organizations.find((each) => each.organizationId === organizationId)
  if (!settings) throw new Error(`${config} names no organization ${organizationId}`)
  const ca = service.ca === undefined ? {} : { ca: service.ca }
  using send = httpTransport({ timeoutMs: TIMEOUT_MS, concurrency: 1, ...ca, ...settings.tls })
  const endpoint = await discoverTokenEndpoint(service.baseUrl, send)
  const now = new Date().toISOString()
  const request = { client: clientOf(settings), endpoint, now, jti: randomUUID() }
  const { status, body } = await requestToken(request, send)
  const { access_token: token } = body
  if (status !== 200 || typeof token !== 'string')
    throw new Error(`${organizationId} got no access token: the token endpoint answered ${status}`)
  return token
}
