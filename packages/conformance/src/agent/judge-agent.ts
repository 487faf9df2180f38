import type { Check, CheckResult } from '../run/check.ts'
import type { LineProcess } from '../run/line-process.ts'
import { Finding } from '../run/finding.ts'
import { type CheckScope, runChecks } from '../run/run-checks.ts'
import { idSource } from '../run/seed.ts'
import { observe, observeLine } from '../wire/observed.ts'
import { isObject, toAnswer } from '../wire/wire.ts'
import type { AgentContext } from './agent-context.ts'
import { deliverWebhook, type WebhookTarget } from './deliver-webhook.ts'
import { type Driver, type DriverAnswer, type DriverCommand, driverOf } from './driver.ts'
import type { AgentRequest } from './agent-request.ts'
import { type ScriptedExchange, startScriptedExchange } from './scripted-exchange.ts'
import { ScriptedPackages } from './scripted-packages.ts'
import { ScriptedStream } from './scripted-stream.ts'
import type { SignedWebhook } from './signed-webhook.ts'
import { TokenIssuer } from './token-issuer.ts'
import { WebhookKeys } from './webhook-keys.ts'

export interface JudgeAgentOptions {
  readonly process: LineProcess
  readonly seed: string
  /** Where the scripted exchange listens; a free port of this machine by default. */
  readonly host?: string
  readonly port?: number
}

/** Breaks one rule between the agent and the kit. */
export interface AgentMutation {
  readonly status?: (webhook: SignedWebhook, status: number) => number
  readonly answer?: (command: DriverCommand, answer: DriverAnswer) => DriverAnswer
  readonly requests?: (requests: readonly AgentRequest[]) => AgentRequest[]
  readonly registration?: (body: AgentRequest['body']) => AgentRequest['body']
  readonly receipt?: (receipt: AgentRequest['body']) => AgentRequest['body']
}

export interface AgentRun {
  readonly checks: readonly Check<AgentContext>[]
  /** Names the run, so that runs of one session use different ids. */
  readonly name?: string
  readonly mutation?: AgentMutation
  readonly onResult?: (result: CheckResult) => void
}

/** An agent that has registered with the scripted exchange. */
export interface AgentSession extends AsyncDisposable {
  run(run: AgentRun): Promise<CheckResult[]>
}

/** Lets the agent under test register with a scripted exchange. */
export async function startAgentSession(options: JudgeAgentOptions): Promise<AgentSession> {
  const newId = idSource(options.seed, 'session')
  const driver = driverOf(options.process)
  const identity = { organization_id: newId('org'), agent_id: newId('agent') }
  const clientId = newId('client')
  const parts = async (baseUrl: string) => ({
    organizationId: identity.organization_id,
    agentId: identity.agent_id,
    tokens: new TokenIssuer(baseUrl, clientId),
    stream: new ScriptedStream(identity.organization_id, newId),
    keys: await WebhookKeys.make(newId),
    packages: await ScriptedPackages.make({
      baseUrl,
      organizationId: identity.organization_id,
      agentId: identity.agent_id,
      registration: () => running.registration(),
      newId,
    }),
  })
  let scripted: Awaited<ReturnType<typeof parts>> | undefined
  const running = await startScriptedExchange(options.port ?? 0, options.host ?? '127.0.0.1', async (url) => {
    scripted = await parts(url)
    return scripted
  })
  if (!scripted) throw new Error('the scripted exchange did not start')
  const { tokens, stream, keys, packages } = scripted
  try {
    const created = await driver.ask('create', {
      base_url: running.baseUrl,
      client_id: clientId,
      ...identity,
    })
    if (!isObject(created['client_jwk']))
      throw new Error('the driver answered create without client_jwk, the public key of its client')
    tokens.clientJwk = created['client_jwk']
    await driver.ask('register')
    if (!running.registration()) throw new Error('the agent did not register with the scripted exchange')
  } catch (error) {
    await running[Symbol.asyncDispose]()
    throw error
  }

  let target: WebhookTarget | undefined
  const listening = async () => (target ??= targetOf(await driver.ask('listen')))

  const contextOf = (
    { name = 'run', mutation = {} }: AgentRun,
    check: Check<AgentContext>,
    { signal, record, note }: CheckScope,
  ): AgentContext => {
    const inner = mutated(driver, mutation)
    const asked: Driver = {
      async ask(command, values = {}) {
        signal.throwIfAborted()
        try {
          const answer = await inner.ask(command, values)
          record(observeLine({ command, ...values }, answer))
          // An agent may listen somewhere else after a restart.
          if (typeof answer['url'] === 'string') target = targetOf(answer)
          return answer
        } catch (error) {
          if (error instanceof Finding) record(observeLine({ command, ...values }, { error: error.message }))
          throw error
        }
      },
    }
    return {
      driver: asked,
      exchange: observedBy(running, mutation),
      stream,
      keys,
      packages: mutation.receipt ? withReceipts(packages, mutation.receipt) : packages,
      webhookUrl: async () => (await listening()).url,
      async deliver(webhook) {
        signal.throwIfAborted()
        const answered = await deliverWebhook(await listening(), webhook)
        const status = mutation.status?.(webhook, answered) ?? answered
        const { url, headers, body } = webhook
        const request = { method: 'POST', url, headers, body }
        record(observe(toAnswer(request, { status, headers: {}, text: '', bytes: new Uint8Array() })))
        return status
      },
      handled: () => handledBy(asked),
      newId: idSource(options.seed, `${name} ${check.name}`),
      note: (id, observed) => note({ id, observed }),
    }
  }
  return {
    run: (run) =>
      runChecks<AgentContext>({
        checks: run.checks,
        contextOf: (check, scope) => contextOf(run, check, scope),
        ...(run.onResult && { onResult: run.onResult }),
      }),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  }
}

function targetOf({ url, connect, ca }: DriverAnswer): WebhookTarget {
  if (typeof url !== 'string') throw new Error('the driver answered listen without url')
  return { url, connect: typeof connect === 'string' ? connect : url, ...(typeof ca === 'string' && { ca }) }
}

function mutated(driver: Driver, { answer }: AgentMutation): Driver {
  if (!answer) return driver
  return { ask: async (command, values) => answer(command, await driver.ask(command, values)) }
}

/** What the exchange saw, as a mutant shows it. */
function observedBy(exchange: ScriptedExchange, { requests, registration }: AgentMutation): ScriptedExchange {
  return {
    ...exchange,
    get requests() {
      return requests?.(exchange.requests) ?? exchange.requests
    },
    registration() {
      const body = exchange.registration()
      return body && (registration?.(body) ?? body)
    },
  }
}

async function handledBy(driver: Driver): Promise<readonly string[]> {
  const { event_ids: ids } = await driver.ask('handled')
  if (!Array.isArray(ids)) throw new Error('the driver answered handled without event_ids, a list')
  return ids.map(String)
}

/** The same packages, with receipts that a mutant changed. */
function withReceipts(
  packages: ScriptedPackages,
  change: (receipt: AgentRequest['body']) => AgentRequest['body'],
): AgentContext['packages'] {
  return new Proxy(packages, {
    get(target, name) {
      if (name === 'receipts')
        return new Map([...target.receipts].map(([id, receipts]) => [id, receipts.map(change)]))
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value as () => unknown).bind(target) : value
    },
  })
}
