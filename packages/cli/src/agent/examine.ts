import { importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import { ExchangeError, rememberedUrl, type OwnKey } from '@agent-exchange/sdk'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'

/** One thing that has to be right, in the order in which each needs those before it. */
export interface Examination {
  readonly name: string
  /** Says what is right; throws a sentence that says what is wrong and what to do. */
  examine(agent: FolderAgent): Promise<string>
}

/** Beyond this a signed webhook may be refused (the SDK's own patience is five seconds). */
const CLOCK_SECONDS = 5
const ANSWER_MS = 10_000

export const EXAMINATIONS: readonly Examination[] = [
  { name: 'exchange and clock', examine: clock },
  { name: 'access token', examine: token },
  { name: 'registration', examine: registration },
  { name: 'own keys', examine: ownKeys },
  { name: 'directory', examine: directory },
  { name: 'event stream', examine: stream },
  { name: 'outbox', examine: outbox },
  { name: 'webhook', examine: webhook },
]

async function clock({ context }: FolderAgent): Promise<string> {
  const { baseUrl } = context.connection
  const before = Date.now()
  const response = await reach(`${baseUrl}/.well-known/oauth-protected-resource`)
  const shown = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(shown)) return `${baseUrl} answers; it shows no time`
  // The header has whole seconds: the true time lies in the second that begins there.
  const early = (before - (shown + 1_000)) / 1_000
  const late = (shown - Date.now()) / 1_000
  const apart = Math.max(0, early, late)
  if (apart <= CLOCK_SECONDS) return `${baseUrl} answers; clocks agree`
  throw new CommandFailure(
    `The clock of this machine is ${Math.round(apart)} s ${early > late ? 'ahead of' : 'behind'} the exchange's. Set it by NTP: signatures live for minutes.`,
  )
}

async function token(agent: FolderAgent): Promise<string> {
  await agent.token()
  return 'the authorization server was found and gave one'
}

async function registration({ context, identity }: FolderAgent): Promise<string> {
  const agent = await context.connection
    .call('getAgent', { path: { agent_id: identity.agentId } })
    .catch((error: unknown) => {
      if (error instanceof ExchangeError && error.problem?.code === 'resource_not_found')
        throw new CommandFailure('The agent is not registered. Run `aex agent register`.')
      throw error
    })
  if (agent.organization_id !== identity.organizationId)
    throw new CommandFailure('Another organization has registered this agent id. Choose another id.')
  if (agent.status !== 'active')
    throw new CommandFailure(`The agent is ${agent.status}. Ask the operator of the exchange why.`)
  return `${identity.agentId} is active; ${agent.transport_modes.join(', ')}`
}

async function ownKeys({ context, identity }: FolderAgent): Promise<string> {
  const { keys } = await context.connection.call('getAgentKeys', { path: { agent_id: identity.agentId } })
  const current = (await context.keys.list()).filter(
    ({ role, stage }) => role !== 'client' && stage === 'current',
  )
  for (const own of current) {
    const shown = keys.find(({ key_id }) => key_id === own.keyId)
    if (!shown) throw new CommandFailure(`${describe(own)} is not registered. Run \`aex agent register\`.`)
    if (shown.status !== 'active')
      throw new CommandFailure(
        `${describe(own)} is ${shown.status} at the exchange. Run \`aex agent keys rotate ${own.role}\`.`,
      )
    const { jwk } = await importPublicJwk(shown.public_key)
    if ((await jwkThumbprint(own.publicJwk)) !== (await jwkThumbprint(jwk)))
      throw new CommandFailure(
        `The directory shows another key under the id of ${describe(own)}. Do not send; tell the operator.`,
      )
    await context.keys.privateKey(own.keyId)
  }
  return 'signing and encryption key are registered, active and the same'
}

async function directory({ context }: FolderAgent): Promise<string> {
  const { keys, directory_version } = await context.connection.call('getNotificationSigningKeys')
  const usable = keys.filter(({ status }) => status === 'active' || status === 'retiring')
  if (usable.length === 0)
    throw new CommandFailure('The exchange shows no key for webhooks. Tell its operator.')
  return `${usable.length} notification key(s), version ${directory_version}`
}

async function stream({ context }: FolderAgent): Promise<string> {
  await context.connection.call('listNotifications', { query: { limit: 1 } })
  return 'can be read'
}

async function outbox({ outbox: waiting }: FolderAgent): Promise<string> {
  const [oldest, ...others] = await waiting.pending(100)
  if (!oldest) return 'nothing is waiting'
  throw new CommandFailure(
    `${1 + others.length} package(s) were sealed and never accepted, the oldest at ${oldest.createdAt}. Run \`aex agent resume\`.`,
  )
}

async function webhook(agent: FolderAgent): Promise<string> {
  const url = await rememberedUrl(agent.inbox())
  if (url === undefined) return 'none registered from here; events come by polling'
  const { status } = await reach(url)
  // The receiver takes POST alone, and says so.
  if (status === 405) return `${url} answers`
  throw new CommandFailure(
    `Something answers at ${url} (status ${status}), and it is not the receiver. Check the path and the proxy.`,
  )
}

async function reach(url: string): Promise<Response> {
  try {
    return await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new CommandFailure(
      `Nothing usable answers at ${url}${code}. Check address, network and certificate.`,
    )
  }
}

const describe = ({ role, keyId }: OwnKey) => `the ${role} key ${keyId}`
