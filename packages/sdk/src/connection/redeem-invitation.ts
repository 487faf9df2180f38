import { parseInvitation, parseStrictJson, type Invitation, type PublicJwk } from '@agent-exchange/crypto'
import { extensions, joinedClient, validatorOf, type JoinedClient } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import { refusal } from './answers.ts'
import { DEFAULT_LIMITS, OAUTH_ANSWER_BYTES } from './connection-limits.ts'
import { readBaseAddress } from './exchange-addresses.ts'
import { request, type Fetch } from './http-transport.ts'
import { withRetries } from './retries.ts'

export interface Redemption {
  readonly invitation: Invitation
  readonly agentId: string
  /** Public key of the client. The first key that redeems the invitation wins; the same key may do so again. */
  readonly publicJwk: PublicJwk
  readonly fetch?: Fetch
  readonly now?: () => Date
  readonly signal?: AbortSignal
}

/** The client that the exchange has registered. */
export interface RedeemedClient {
  readonly clientId: string
  readonly organizationId: string
  readonly agentId: string
}

/** Reads the text of an invitation, with blanks and line breaks of a mail around it. */
export function readInvitation(given: string): Invitation {
  const invitation = parseInvitation(given.replaceAll(/\s+/gu, ''))
  if (!invitation) throw new ExchangeError('invitation_unreadable')
  return invitation
}

/**
 * Exchanges the secret of an invitation for a client that is bound to one agent.
 *
 * @example
 * const invitation = readInvitation(text)
 * const { clientId } = await redeemInvitation({ invitation, agentId: 'agent_planner', publicJwk: client.publicJwk })
 */
export async function redeemInvitation(redemption: Redemption): Promise<RedeemedClient> {
  const { invitation, agentId, publicJwk, signal, now = () => new Date() } = redemption
  const send = redemption.fetch ?? ((url, init) => fetch(url, init))
  const base = readBaseAddress(invitation.baseUrl)
  const body = JSON.stringify({
    invitation_secret: invitation.secret,
    agent_id: agentId,
    public_jwk: publicJwk,
  })
  const answer = await withRetries(DEFAULT_LIMITS, signal, async () => {
    const received = await request(
      send,
      `${base.href}${extensions.joinByInvitation.path}`,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body },
      { timeoutMs: DEFAULT_LIMITS.timeoutMs, maximumBytes: OAUTH_ANSWER_BYTES, signal },
    )
    if (received.status !== 200) throw explained(refusal(received, now()), invitation, now())
    return received
  })
  const joined = readAnswer(answer.body)
  if (joined.organization_id !== invitation.organizationId || joined.agent_id !== agentId)
    throw new ExchangeError('exchange_answer_unreadable', { what: 'The client belongs to another agent.' })
  return { clientId: joined.client_id, organizationId: joined.organization_id, agentId: joined.agent_id }
}

function readAnswer(body: Uint8Array): JoinedClient {
  try {
    const value: unknown = parseStrictJson(body)
    if (validatorOf(joinedClient).accepts(value)) return value
  } catch (cause) {
    throw new ExchangeError('exchange_answer_unreadable', { cause })
  }
  throw new ExchangeError('exchange_answer_unreadable')
}

/** The exchange answers alike for every refused invitation; the invitation itself says when it expired. */
function explained(error: ExchangeError, { expiresAt, baseUrl }: Invitation, now: Date): ExchangeError {
  const { problem } = error
  if (problem?.code !== 'invitation_refused') return error
  const isExpired = Date.parse(expiresAt) <= now.getTime()
  const what = isExpired
    ? `The invitation expired at ${expiresAt}.`
    : 'The invitation was used with another key or revoked, its organization is suspended, or the exchange does not know it.'
  return new ExchangeError('invitation_refused', { what, details: { exchange: baseUrl }, problem })
}
