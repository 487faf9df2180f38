import { agentId, organizationId, validatorOf } from '@agent-exchange/protocol'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { parseStrictJson } from './strict-json.ts'
import { unlessRefused } from './unless-refused.ts'

/** Lets secret scanners recognize a leaked invitation. */
const PREFIX = 'aexinv_'
const VERSION = 1
const SECRET_BYTES = 32
const MAXIMUM_CHARACTERS = 4_096
const UTC_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/u

/** All that an agent needs in order to join an exchange. Whoever holds it can join: treat it as a password. */
export interface Invitation {
  readonly baseUrl: string
  readonly organizationId: string
  /** The only agent that it admits. */
  readonly agentId?: string
  readonly expiresAt: string
  /** 256 random bits, base64url. */
  readonly secret: string
}

/** One line of text without blanks, to be sent to the invited person. */
export function formatInvitation({ secret, ...invitation }: Invitation): string {
  const members = {
    v: VERSION,
    base_url: invitation.baseUrl,
    organization_id: invitation.organizationId,
    ...(invitation.agentId !== undefined && { agent_id: invitation.agentId }),
    expires_at: invitation.expiresAt,
    secret,
  }
  return PREFIX + encodeBase64url(new TextEncoder().encode(JSON.stringify(members)))
}

/** Undefined for a text that is no invitation, or not all of one. */
export function parseInvitation(text: string): Invitation | undefined {
  if (!text.startsWith(PREFIX) || text.length > MAXIMUM_CHARACTERS) return undefined
  return unlessRefused(() =>
    read(parseStrictJson(decodeBase64url(text.slice(PREFIX.length)), { maxDepth: 2 })),
  )
}

/** Whether a text has the form of a secret; 43 characters hold 256 bits. */
export function isInvitationSecret(text: unknown): text is string {
  if (typeof text !== 'string' || text.length !== 43) return false
  try {
    return decodeBase64url(text).length === SECRET_BYTES
  } catch {
    return false
  }
}

function read(value: unknown): Invitation | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { v, base_url, organization_id, agent_id, expires_at, secret } = value as Record<string, unknown>
  if (v !== VERSION || typeof base_url !== 'string' || !URL.canParse(base_url)) return undefined
  if (!validatorOf(organizationId).accepts(organization_id)) return undefined
  if (agent_id !== undefined && !validatorOf(agentId).accepts(agent_id)) return undefined
  if (typeof expires_at !== 'string' || !UTC_TIME.test(expires_at)) return undefined
  if (!isInvitationSecret(secret)) return undefined
  return {
    baseUrl: base_url,
    organizationId: organization_id,
    ...(agent_id !== undefined && { agentId: agent_id }),
    expiresAt: expires_at,
    secret,
  }
}
