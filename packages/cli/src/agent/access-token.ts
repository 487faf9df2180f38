import { importJWK } from 'jose'
import * as oauth from 'oauth4webapi'
import { CommandFailure } from '../failure.ts'
import { readPrivateKey } from './agent-folder.ts'

export interface TokenRequest {
  readonly folder: string
  readonly baseUrl: string
  readonly clientId: string
}

/** Discovery (RFC 9728, RFC 8414), then client credentials with a signed assertion (RFC 7523). */
export async function accessToken({
  folder,
  baseUrl,
  clientId,
}: TokenRequest): Promise<oauth.TokenEndpointResponse> {
  const key = await importJWK({ ...readPrivateKey(folder, 'client') }, 'ES256')
  if (key instanceof Uint8Array) throw new CommandFailure('The client key of this agent is not an EC key.')
  const client = { client_id: clientId }
  const options = insecureOnLoopback(baseUrl)
  try {
    const resource = new URL(baseUrl)
    const { authorization_servers: [issuer] = [] } = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, options),
    )
    const issuerUrl = new URL(issuer ?? baseUrl)
    const discovered = await oauth.discoveryRequest(issuerUrl, { ...options, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(issuerUrl, discovered)
    const answer = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.PrivateKeyJwt(key),
      new URLSearchParams({ resource: baseUrl }),
      options,
    )
    return await oauth.processClientCredentialsResponse(server, client, answer)
  } catch (error) {
    throw explained(error, baseUrl)
  }
}

/** Plain HTTP is for a service on this very machine. */
function insecureOnLoopback(baseUrl: string) {
  const { protocol, hostname } = new URL(baseUrl)
  const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  if (protocol === 'http:' && !isLocal)
    throw new CommandFailure('Use an https address for anything but this machine.')
  return { [oauth.allowInsecureRequests]: protocol === 'http:' }
}

function explained(error: unknown, baseUrl: string): Error {
  if (error instanceof oauth.ResponseBodyError) {
    const why = error.error_description ?? 'no further reason is given'
    return new CommandFailure(
      `The authorization server refused: ${error.error} (${why}). Check the client id, and that this agent's client key is the one it was created with.`,
    )
  }
  if (error instanceof TypeError)
    return new CommandFailure(
      `Nothing answers at ${baseUrl}. Is the exchange running, and is the address right?`,
    )
  return error instanceof Error ? error : new Error('no token')
}
