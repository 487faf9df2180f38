import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { realTime, type SimulatorClock } from './clock.ts'
import { serveData } from './data-plane.ts'
import { spend, type Faults } from './faults.ts'
import { managementRoutes, versionRoute } from './management-api.ts'
import { Messenger } from './messages.ts'
import { stepNegotiations } from './negotiation-machine.ts'
import { ParticipantState } from './participant-state.ts'
import { protocolRoutes } from './protocol-api.ts'
import { refuse, route, type Reply, type Route } from './routing.ts'
import { stepTransfers } from './transfer-machine.ts'

const LARGEST_BODY = 1_000_000
const STEP_MS = 150

export interface SimulatorOptions {
  readonly participants: readonly {
    readonly participantId: string
    readonly apiKey?: string
    readonly port?: number
  }[]
  /** Defaults to real time. See {@link MovableClock}. */
  readonly clock?: SimulatorClock
  /** How often the state machines move; EDC's own default is a second. */
  readonly stepMs?: number
  /** Lifetime of tokens, which can be refreshed, as in Tractus-X. Without it they never expire, as in EDC. */
  readonly tokenLifetimeMs?: number
  /** Whether access policies are evaluated. Defaults to true; EDC without our policy function ignores them. */
  readonly enforcesAccess?: boolean
}

/** One simulated connector, and where it answers. */
export interface SimulatedParticipant {
  readonly participantId: string
  readonly apiKey: string
  readonly managementUrl: string
  readonly protocolEndpoint: string
  readonly versionUrl: string
  /** Set members to make things go wrong; see {@link Faults}. */
  faults: Faults
  /** State of the connector, for assertions. */
  readonly state: ParticipantState
}

export interface Simulator extends AsyncDisposable {
  participant(participantId: string): SimulatedParticipant
  close(): Promise<void>
}

/**
 * Starts a data space on this machine: HTTP, state machines, tokens and bytes, without Java.
 *
 * @example
 * await using simulator = await startSimulator({ participants: [{ participantId: 'acme' }, { participantId: 'bolt' }] })
 * const { managementUrl, apiKey, protocolEndpoint } = simulator.participant('acme')
 */
export async function startSimulator(options: SimulatorOptions): Promise<Simulator> {
  const { clock = realTime, stepMs = STEP_MS, tokenLifetimeMs, enforcesAccess = true } = options
  const messenger = new Messenger(randomBytes(32))
  const running = await Promise.all(
    options.participants.map(
      async ({ participantId, apiKey = randomBytes(16).toString('hex'), port = 0 }) => {
        const state = new ParticipantState({
          participantId,
          apiKey,
          clock,
          messenger,
          tokenLifetimeMs,
          enforcesAccess,
        })
        return { state, server: await serve(state, port) }
      },
    ),
  )
  const stop = clock.every(stepMs, async () => {
    for (const { state } of running) {
      await stepNegotiations(state)
      await stepTransfers(state)
    }
  })
  const close = async () => {
    stop()
    await Promise.all(running.map(({ server }) => shut(server)))
  }
  const participants = new Map(running.map(({ state }) => [state.participantId, describe(state)]))
  return {
    participant: (participantId) => {
      const found = participants.get(participantId)
      if (!found) throw new Error(`There is no participant ${participantId} in this data space.`)
      return found
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function describe(state: ParticipantState): SimulatedParticipant {
  const { participantId, apiKey, base } = state
  return {
    participantId,
    apiKey,
    managementUrl: `${base}/management`,
    protocolEndpoint: `${base}/protocol`,
    versionUrl: `${base}/version/v1/version`,
    state,
    get faults() {
      return state.faults
    },
    set faults(faults) {
      state.faults = faults
    },
  }
}

async function serve(state: ParticipantState, port: number): Promise<Server> {
  let routes: readonly Route[] = []
  const server = createServer((incoming, outgoing) => {
    void answer(state, routes, incoming, outgoing).catch(() => outgoing.destroy())
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, '127.0.0.1', resolve)
  await promise
  state.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  routes = [...managementRoutes(state), ...protocolRoutes(state), versionRoute]
  return server
}

async function answer(
  state: ParticipantState,
  routes: readonly Route[],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = '', headers } = incoming
  outgoing.setHeader('date', new Date(state.now()).toUTCString())
  const url = new URL(incoming.url ?? '/', state.base)
  const path = url.pathname
  if (path === '/public') return serveData(state, incoming, outgoing)
  const managed = path.startsWith('/management/')
  if (managed && spend(state.faults, 'cut')) return void outgoing.socket?.resetAndDestroy()
  const refused = managed ? guard(state, headers) : undefined
  if (refused) return write(outgoing, refused)
  const body = await readBody(incoming)
  const reply = await route(routes, { method, path, query: url.searchParams, headers, body })
  const { loseAnswer } = state.faults
  if (loseAnswer?.method === method && loseAnswer.path.test(path) && loseAnswer.times-- > 0)
    return void outgoing.socket?.resetAndDestroy()
  return write(outgoing, reply)
}

function guard(
  state: ParticipantState,
  headers: IncomingMessage['headers'],
): (Reply & { location?: string }) | undefined {
  if (spend(state.faults, 'busy')) return refuse(503, 'ServiceUnavailable', 'Try again later')
  if (state.faults.managementAnswer) {
    const { status, body, location } = state.faults.managementAnswer
    return { status, body, ...(location !== undefined && { location }) }
  }
  const key = headers['x-api-key']
  if (key === state.apiKey) return undefined
  return refuse(401, 'AuthenticationFailed', 'Request could not be authenticated')
}

function write(outgoing: ServerResponse, { status, body, location }: Reply & { location?: string }): void {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  outgoing.writeHead(status, {
    'content-type': 'application/json',
    ...(location !== undefined && { location }),
  })
  outgoing.end(text)
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    size += part.length
    if (size > LARGEST_BODY) throw new Error('too large')
    parts.push(part)
  }
  const text = Buffer.concat(parts).toString('utf8')
  return text === '' ? undefined : JSON.parse(text)
}

function shut(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  return promise
}
