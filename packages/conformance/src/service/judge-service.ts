import type { Check, CheckResult } from '../run/check.ts'
import type { Context, OpenPoints } from '../run/context.ts'
import { AnswerExaminer, type Examined } from '../run/examined-answers.ts'
import { asksForToken } from '../run/expect.ts'
import { eventuallyWithin } from '../run/eventually.ts'
import type { Hooks } from '../run/hooks.ts'
import { type Organization, organizationOf, type TokenSource, tokenSource } from '../run/organization.ts'
import { type CheckScope, runChecks } from '../run/run-checks.ts'
import { idSource } from '../run/seed.ts'
import { type ClientIdentity, discoverTokenEndpoint } from '../wire/access-token.ts'
import { observe } from '../wire/observed.ts'
import { httpTransport, type TlsOptions } from '../wire/http-transport.ts'
import { politeTransport } from '../wire/polite-transport.ts'
import {
  type Answer,
  isObject,
  parseObject,
  toAnswer,
  type Transport,
  type WireRequest,
} from '../wire/wire.ts'
import { type AgentIdentity, newIdentity, registrationOf } from './agent.ts'
import { closeEndpoints } from './close-endpoints.ts'
import { operationAt, type OperationName } from './operations.ts'
import { probeOpenPoints } from './probe-open-points.ts'
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
  /** The name of its profile, for the report. */
  readonly profile?: string
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
  /** How long the kit waits for what a service may do a little later, such as showing an event in a stream. */
  readonly patienceMs?: number
  /** The pace, so that a server of somebody else is not loaded. */
  readonly requestsPerSecond?: number
  /** Results and examined answers of the runs that this one continues. */
  readonly done?: readonly CheckResult[]
  readonly examined?: Examined
  /** How the service decides open points. */
  readonly onOpenPoints?: (openPoints: OpenPoints) => void
  readonly onResult?: (result: CheckResult, progress: RunProgress) => void
  /** Breaks a rule on the way. */
  readonly mutate?: (send: Transport) => Transport
}

/** What a later run needs beside the results. */
export interface RunProgress {
  readonly examined: Examined
  readonly clockAhead: number
}

/** At once, where a check sends at once at all. */
const CONCURRENCY = 8
const TIMEOUT_MS = 15_000
const REQUESTS_PER_SECOND = 50
const PATIENCE_MS = 5_000

/** Judges a running service. Throws if it cannot start, such as without a token. */
export async function judgeService(service: ServiceUnderTest, options: JudgeOptions): Promise<CheckResult[]> {
  await using cleanup = new AsyncDisposableStack()
  const { baseUrl, hooks } = service
  const limits = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    concurrency: options.concurrency ?? CONCURRENCY,
  }
  const ca = service.ca === undefined ? {} : { ca: service.ca }
  const { requestsPerSecond = REQUESTS_PER_SECOND } = options
  const open = (tls: TlsOptions = {}): Transport => {
    const transport = politeTransport(cleanup.use(httpTransport({ ...limits, ...ca, ...tls })), {
      requestsPerSecond,
    })
    return options.mutate?.(transport) ?? transport
  }
  const send = open()
  const endpoint = await discoverTokenEndpoint(baseUrl, send)
  const webhooks = service.webhooks && cleanup.use(await startReceiver(service.webhooks))
  let ahead = service.clockAhead ?? 0
  const now = () => new Date(Date.now() + ahead).toISOString()
  const examiner = new AnswerExaminer(options.checks, options.examined)
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
      record: (answer) => answer,
    })
    await register(organization, identity)
    parties.push({ settings, token, send: own, identity })
  }
  const description = await publishedDescription(baseUrl, parties[0])
  const known = new Set<OperationName>(describedOperations(description))
  const published = description['x-deployment-profile']
  let openPoints = service.openPoints ?? (isObject(published) ? (published as OpenPoints) : {})
  options.onOpenPoints?.(openPoints)
  const contextOf = (check: Check, scope: CheckScope): Context => {
    const newId = ids(check.name)
    const record = (answer: Answer): Answer => {
      scope.record(observe(answer))
      examiner.add(answer)
      const operation = operationAt(answer.request.method, new URL(answer.request.url).pathname)
      if (operation && answer.status !== 404) known.add(operation)
      return { ...answer, isKnownOperation: operation === undefined || known.has(operation) }
    }
    const stoppable =
      (inner: Transport): Transport =>
      (request) => {
        scope.signal.throwIfAborted()
        return inner(request)
      }
    const recorded =
      (inner: Transport): Transport =>
      async (request) => {
        const answer = await stoppable(inner)(request)
        scope.record(observe(toAnswer(request, answer)))
        return answer
      }
    const [sender, recipient, outsider] = parties.map(({ settings, token, send: own, identity }) => {
      const caller = { ...owner(settings), baseUrl, token, send: stoppable(own), newId, record }
      return { ...identity, organization: { ...organizationOf(caller), send: recorded(own) } }
    })
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
      examined: (name) => examiner.conclude(name),
      newId,
      eventually: eventuallyWithin(options.patienceMs ?? PATIENCE_MS),
      now,
      async advance(seconds) {
        await hooks.advance_clock?.({ seconds: String(seconds) })
        ahead += seconds * 1_000
      },
      note: (id, observed) => scope.note({ id, observed }),
    }
  }
  openPoints = await probeOpenPoints(contextOf(PROBING, SILENT))
  const { done, onResult } = options
  const isKept = ({ name }: CheckResult) =>
    !options.checks.some((check) => check.name === name && check.examine !== undefined)
  const results = runChecks({
    checks: options.checks,
    contextOf,
    timeoutMs: limits.timeoutMs,
    lacks: (need, context) =>
      need === 'webhooks' ? context.webhooks === undefined : context.hooks[need] === undefined,
    // Checks of all answers conclude again in each run.
    ...(done && { done: done.filter(isKept) }),
    onResult: (result) => onResult?.(result, { examined: examiner.state, clockAhead: ahead }),
  })
  try {
    return await results
  } finally {
    if (webhooks) await closeEndpoints(webhooks, contextOf(CLOSING, SILENT))
  }
}

/** Not checks: what the run does before the first one and after the last one. */
const step = (name: string): Check => ({ name, ids: [], title: name, run: () => Promise.resolve() })
const PROBING = step('probing')
const CLOSING = step('closing')
const SILENT: CheckScope = {
  note: () => undefined,
  record: () => undefined,
  signal: new AbortController().signal,
}

interface Party {
  readonly settings: OrganizationSettings
  readonly token: TokenSource
  readonly send: Transport
  readonly identity: AgentIdentity
}

export const clientOf = ({ clientId, privateJwk, tls }: OrganizationSettings): ClientIdentity => ({
  clientId,
  ...(privateJwk && { privateJwk }),
  hasCertificate: tls?.cert !== undefined,
})

const owner = (settings: OrganizationSettings) => ({
  organizationId: settings.organizationId,
  client: clientOf(settings),
})

async function register(organization: Organization, identity: AgentIdentity): Promise<void> {
  const body = registrationOf(organization.organizationId, identity)
  const { status, body: answer } = await organization.call('POST', '/v1/agents/register', body)
  if (status === 201) return
  const code = typeof answer['code'] === 'string' ? ` ${answer['code']}` : ''
  throw new Error(`registering an agent of ${organization.organizationId} answered ${status}${code}`)
}

/** Empty if the service has none. It may ask for a token. */
async function publishedDescription(
  baseUrl: string,
  party: Pick<Party, 'send' | 'token'> | undefined,
): Promise<Record<string, unknown>> {
  if (!party) return {}
  const read = (headers: WireRequest['headers']) =>
    party.send({ method: 'GET', url: `${baseUrl}/openapi.json`, headers })
  const open = await read({})
  const answer = asksForToken(open) ? await read({ authorization: `Bearer ${await party.token()}` }) : open
  return answer.status === 200 ? parseObject(answer.text) : {}
}

function describedOperations({ paths }: Readonly<Record<string, unknown>>): OperationName[] {
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.keys(isObject(item) ? item : {}).flatMap(
      (method) => operationAt(method.toUpperCase(), path) ?? [],
    ),
  )
}
