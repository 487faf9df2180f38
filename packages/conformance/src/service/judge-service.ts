import type { Check, CheckResult } from '../run/check.ts'
import type { Context, OpenPoints } from '../run/context.ts'
import type { Hooks } from '../run/hooks.ts'
import { type Organization, organizationOf, tokenSource } from '../run/organization.ts'
import { type CheckScope, runChecks } from '../run/run-checks.ts'
import { idSource } from '../run/seed.ts'
import { type ClientIdentity, discoverTokenEndpoint } from '../wire/access-token.ts'
import { httpTransport, type TlsOptions } from '../wire/http-transport.ts'
import { type Answer, isObject, parseObject, toAnswer, type Transport } from '../wire/wire.ts'
import { type AgentIdentity, newIdentity, registrationOf } from './agent.ts'
import { type ReceiverOptions, startReceiver } from './webhook-receiver.ts'

export interface OrganizationSettings extends ClientIdentity {
  readonly organizationId: string
  /** Of connections with a client certificate. */
  readonly tls?: TlsOptions
}

export interface ServiceUnderTest {
  readonly baseUrl: string
  readonly organizations: readonly [OrganizationSettings, OrganizationSettings, OrganizationSettings]
  readonly ca?: string
  readonly webhooks?: ReceiverOptions
  readonly hooks: Hooks
  /** How far hooks moved the clock of the service before, in milliseconds. */
  readonly clockAhead?: number
  /** Instead of those that /openapi.json publishes. */
  readonly openPoints?: OpenPoints
}

export interface JudgeOptions {
  readonly checks: readonly Check[]
  readonly seed: string
  /** The number of this run with the same seed. */
  readonly run?: number
  readonly concurrency?: number
  readonly timeoutMs?: number
  readonly done?: readonly CheckResult[]
  readonly onResult?: (result: CheckResult) => void
  /** Breaks a rule on the way. */
  readonly mutate?: (send: Transport) => Transport
}

/** At once, where a check sends at once at all. */
const CONCURRENCY = 8
const TIMEOUT_MS = 15_000
/** Answers kept for the checks that examine all of them. */
const MAXIMUM_TRAFFIC = 10_000

/** Judges a running service. Throws if it cannot start, such as without a token. */
export async function judgeService(service: ServiceUnderTest, options: JudgeOptions): Promise<CheckResult[]> {
  await using cleanup = new AsyncDisposableStack()
  const { baseUrl, hooks } = service
  const limits = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    concurrency: options.concurrency ?? CONCURRENCY,
  }
  const ca = service.ca === undefined ? {} : { ca: service.ca }
  const open = (tls: TlsOptions = {}): Transport => {
    const transport = cleanup.use(httpTransport({ ...limits, ...ca, ...tls }))
    return options.mutate?.(transport) ?? transport
  }
  const send = open()
  const endpoint = await discoverTokenEndpoint(baseUrl, send)
  const openPoints = service.openPoints ?? (await publishedOpenPoints(baseUrl, send))
  const webhooks = service.webhooks && cleanup.use(await startReceiver(service.webhooks))
  let ahead = service.clockAhead ?? 0
  const now = () => new Date(Date.now() + ahead).toISOString()
  const traffic: Answer[] = []
  const ids = (scope: string) => idSource(options.seed, `${options.run ?? 1} ${scope}`)
  const setupId = ids('setup')
  const parties: Party[] = []
  for (const settings of service.organizations) {
    const own = settings.tls ? open(settings.tls) : send
    const token = tokenSource({ ...owner(settings), endpoint, send: own, now, newId: setupId })
    const identity = await newIdentity(setupId)
    const organization = organizationOf({
      ...owner(settings),
      baseUrl,
      token,
      send: own,
      newId: setupId,
      record: () => undefined,
    })
    await register(organization, identity)
    parties.push({ settings, token, send: own, identity })
  }
  const contextOf = (check: Check, scope: CheckScope): Context => {
    const newId = ids(check.name)
    const record = (answer: Answer) => {
      scope.record(answer)
      if (traffic.length < MAXIMUM_TRAFFIC) traffic.push(answer)
    }
    const recorded =
      (inner: Transport): Transport =>
      async (request) => {
        const answer = await inner(request)
        scope.record(toAnswer(request, answer))
        return answer
      }
    const [sender, recipient, outsider] = parties.map(({ settings, token, send: own, identity }) => ({
      ...identity,
      organization: organizationOf({ ...owner(settings), baseUrl, token, send: own, newId, record }),
    }))
    if (!sender || !recipient || !outsider) throw new Error('three organizations are needed')
    return {
      baseUrl,
      endpoint,
      send: recorded(send),
      sender,
      recipient,
      outsider,
      openPoints,
      hooks,
      webhooks,
      traffic,
      newId,
      now,
      async advance(seconds) {
        await hooks.advance_clock?.({ seconds: String(seconds) })
        ahead += seconds * 1_000
      },
      note: (id, observed) => scope.note({ id, observed }),
    }
  }
  return await runChecks({
    checks: options.checks,
    contextOf,
    lacks: (need, context) =>
      need === 'webhooks' ? context.webhooks === undefined : context.hooks[need] === undefined,
    ...(options.done && { done: options.done }),
    ...(options.onResult && { onResult: options.onResult }),
  })
}

interface Party {
  readonly settings: OrganizationSettings
  readonly token: () => Promise<string>
  readonly send: Transport
  readonly identity: AgentIdentity
}

const owner = ({ organizationId, clientId, privateJwk }: OrganizationSettings) => ({
  organizationId,
  client: { clientId, ...(privateJwk && { privateJwk }) },
})

async function register(organization: Organization, identity: AgentIdentity): Promise<void> {
  const body = registrationOf(organization.organizationId, identity)
  const { status, body: answer } = await organization.call('POST', '/v1/agents/register', body)
  if (status === 201) return
  const code = typeof answer['code'] === 'string' ? ` ${answer['code']}` : ''
  throw new Error(`registering an agent of ${organization.organizationId} answered ${status}${code}`)
}

/** How the deployment decides open points, if its API description says so. */
async function publishedOpenPoints(baseUrl: string, send: Transport): Promise<OpenPoints> {
  const { status, text } = await send({ method: 'GET', url: `${baseUrl}/openapi.json`, headers: {} })
  const published = status === 200 ? parseObject(text)['x-deployment-profile'] : undefined
  return isObject(published) ? (published as OpenPoints) : {}
}
