import { ExchangeError } from '@agent-exchange/sdk'
import { rememberedUrl, uncheckedSentence, watchLog } from '@agent-exchange/sdk/internal'
import { CommandFailure } from '../failure.ts'
import { examineConnectorOf } from './check-connector.ts'
import type { Examination, Subject } from './examination.ts'
import { examineOwnKeys } from './examine-keys.ts'
import { nextStep } from './next-step.ts'
import { reach, reachAnywhere } from './reach.ts'

/** A larger difference makes signed webhooks fail (the SDK tolerates five seconds). */
const CLOCK_SECONDS = 5
const COUNTED_PACKAGES = 100

export const EXAMINATIONS: readonly Examination[] = [
  { name: 'exchange and clock', examine: clock },
  { name: 'access token', examine: token },
  { name: 'registration', examine: registration },
  { name: 'own keys', examine: ({ agent, place }) => examineOwnKeys(agent, place) },
  { name: 'directory', examine: directory },
  { name: 'event stream', examine: stream },
  { name: 'transparency log', examine: transparencyLog },
  { name: 'outbox', examine: outbox },
  { name: 'webhook', examine: webhook },
  { name: 'connector', examine: examineConnectorOf },
]

async function clock({ agent, exchangeFetch }: Subject): Promise<string> {
  const { baseUrl } = agent.context.connection
  const before = Date.now()
  const response = await reach(`${baseUrl}/.well-known/oauth-protected-resource`, exchangeFetch)
  const shown = Date.parse(response.headers.get('date') ?? '')
  if (Number.isNaN(shown)) return `${baseUrl} answers without a Date header`
  // The header has whole seconds: the time lies within that second.
  const early = (before - (shown + 1_000)) / 1_000
  const late = (shown - Date.now()) / 1_000
  const apart = Math.max(0, early, late)
  if (apart <= CLOCK_SECONDS) return `${baseUrl} answers; clocks agree`
  throw new CommandFailure(
    `The clock of this machine is ${Math.round(apart)} s ${early > late ? 'ahead of' : 'behind'} the exchange's. Set it by NTP: signatures live for minutes.`,
  )
}

async function token({ agent }: Subject): Promise<string> {
  await agent.token()
  return 'the authorization server was found and gave one'
}

async function registration({ agent: { context, identity }, place }: Subject): Promise<string> {
  const agent = await context.connection
    .call('getAgent', { path: { agent_id: identity.agentId } })
    .catch((error: unknown) => {
      if (error instanceof ExchangeError && error.problem?.code === 'resource_not_found')
        throw new CommandFailure(`The agent is not registered. Run: ${nextStep(place, 'register')}`)
      throw error
    })
  if (agent.organization_id !== identity.organizationId)
    throw new CommandFailure('Another organization has registered this agent id. Choose another id.')
  if (agent.status !== 'active')
    throw new CommandFailure(`The agent is ${agent.status}. Ask the operator of the exchange why.`)
  return `${identity.agentId} is active; ${agent.transport_modes.join(', ')}`
}

async function directory({ agent: { context } }: Subject): Promise<string> {
  const { keys, directory_version } = await context.connection.call('getNotificationSigningKeys')
  const usable = keys.filter(({ status }) => status === 'active' || status === 'retiring')
  if (usable.length === 0) throw new CommandFailure('The exchange lists no webhook key. Inform its operator.')
  return `${usable.length} notification key(s), version ${directory_version}`
}

async function stream({ agent: { context } }: Subject): Promise<string> {
  await context.connection.call('listNotifications', { query: { limit: 1 } })
  return 'can be read'
}

async function transparencyLog({ agent: { context } }: Subject): Promise<string> {
  const { unchecked } = await watchLog(context)
  if (unchecked) throw new CommandFailure(`${uncheckedSentence(unchecked)} Ask the operator why.`)
  return (await context.log.read())
    ? 'continues the last checkpoint that this agent saw'
    : 'the exchange shows no checkpoint yet'
}

async function outbox({ agent, place }: Subject): Promise<string> {
  const waiting = await agent.outbox.pending(COUNTED_PACKAGES)
  const [oldest] = waiting
  if (!oldest) return 'nothing is waiting'
  const count = waiting.length === COUNTED_PACKAGES ? `${COUNTED_PACKAGES} or more` : waiting.length
  throw new CommandFailure(
    `${count} package(s) were sealed and never accepted, the oldest at ${oldest.createdAt}. Run: ${nextStep(place, 'resume')}`,
  )
}

async function webhook({ agent, authority }: Subject): Promise<string> {
  const url = await rememberedUrl(agent.inbox())
  if (url === undefined) return 'none registered from here; events come by polling'
  const { status } = await reachAnywhere(url, authority)
  // The receiver accepts POST only.
  if (status === 405) return `${url} answers`
  throw new CommandFailure(
    `Something answers at ${url} (status ${status}), and it is not the receiver. Check the path and the proxy.`,
  )
}
