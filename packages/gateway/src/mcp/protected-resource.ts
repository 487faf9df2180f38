import { VERBS } from '../systems/verbs.ts'

export const MCP_PATH = '/mcp'
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

const SCOPES = VERBS.map((verb) => `aex:${verb}`)

/** RFC 9728 section 2: which provider issues tokens for the MCP server. */
export const protectedResource = (publicUrl: string, issuer: string) => ({
  resource: `${publicUrl}${MCP_PATH}`,
  authorization_servers: [issuer],
  scopes_supported: [...SCOPES, 'aex:agent:*'],
  bearer_methods_supported: ['header'],
  resource_name: 'Agent Exchange gateway',
})

/** RFC 9728 section 3.1: the path of the resource follows the well-known one. */
export const metadataUrl = (publicUrl: string) => `${publicUrl}${METADATA_PATH}${MCP_PATH}`

/** What a client asks its provider for if a token permits too little. */
export const WANTED_SCOPES = [...SCOPES, 'aex:agent:AGENT_ID'].join(' ')
