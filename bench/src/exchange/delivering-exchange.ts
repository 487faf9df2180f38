import type { Organization } from '@agent-exchange/testkit'
import { HANGING_PATH, HANGING_SHARE } from '../delivery/hanging-path.ts'
import type { Receiver } from '../delivery/receiver.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Target } from '../load/stock.ts'
import type { Served } from '../processes/serve.ts'
import type { TestBed } from './test-bed.ts'
import type { Exchange } from './exchange.ts'
import { makeOrganizations, toParty, tokensFor, type Tokens } from './parties.ts'
import type { PostgresServer } from './postgres-server.ts'

/** Whether the API and the delivery worker share a process (AEX_ROLE=all) or not (api and worker). */
export type Layout = 'together' | 'apart'

/** The load generator, the receiver and the database server for a measurement. */
export interface Rig {
  readonly load: LoadProcess
  readonly receiver: Receiver
  readonly postgres: PostgresServer
}

export interface DeliveringOptions {
  readonly name: string
  readonly senders: number
  /** Receiving organizations by the number of webhook endpoints that each of them has. */
  readonly receivers: ReadonlyMap<number, number>
  /** Whether a tenth of the endpoints can hang. */
  readonly canHang?: boolean
  /** The command `aex` of another revision. */
  readonly program?: string
}

/** Starts the processes of an exchange whose organizations exist. */
export type StartProcesses = (
  layout: Layout,
  name: string,
  env?: Readonly<Record<string, string>>,
) => Promise<DeliveringExchange>

/** An exchange that accepts packages and delivers webhooks. Only its public contract is used. */
export interface DeliveringExchange extends AsyncDisposable {
  readonly layout: Layout
  readonly exchange: Exchange
  readonly senders: readonly Organization[]
  readonly api: Served
  /** The process that delivers. */
  worker: Served
  readonly tokens: Tokens
  /** Its URL, with a token for each sender. */
  target(): Promise<Target>
  /** The stock of packages for organizations with this many endpoints (0: without endpoints). */
  stock(fanOut: number): string
  /** Starts another process that delivers; it ends with the exchange. */
  startWorker(name: string): Promise<Served>
}

/** Creates organizations and endpoints in a separate database, and stocks of packages between them. */
export async function provision(
  bed: TestBed,
  { load, receiver: { settings, origins } }: Rig,
  cleanup: AsyncDisposableStack,
  { name, senders: senderCount, receivers, canHang = false, program }: DeliveringOptions,
): Promise<StartProcesses> {
  const exchange = cleanup.use(await bed.exchange(name, { ...settings, AEX_ROLE: 'api' }, program))
  const senders = await makeOrganizations(exchange.world, 'sender', senderCount)
  const stock = (fanOut: number) => `${name}, fan-out ${fanOut}`
  const order = (fanOut: number, to: readonly Organization[]) =>
    load.call('createStock', {
      name: stock(fanOut),
      kind: 'packages',
      senders: senders.map(toParty),
      receivers: to.map(toParty),
      needsReceipts: true,
    })
  // Senders to each other, because none of them has an endpoint.
  await order(0, [...senders.slice(1), ...senders.slice(0, 1)])
  const urls = origins.map((origin, i) => {
    const hangs = canHang && (i * HANGING_SHARE) % 1 === 0
    return `${origin}${hangs ? HANGING_PATH : '/hook'}`
  })
  for (const [fanOut, organizations] of await makeReceivers(exchange, receivers, urls))
    await order(fanOut, organizations)
  // The measured processes are started later.
  await exchange.service[Symbol.asyncDispose]()
  return (layout, part, env = {}) =>
    startProcesses(exchange, { layout, part, settings: { ...settings, ...env }, senders, stock })
}

interface ProcessOptions {
  readonly layout: Layout
  readonly part: string
  readonly settings: Readonly<Record<string, string>>
  readonly senders: readonly Organization[]
  readonly stock: DeliveringExchange['stock']
}

async function startProcesses(
  exchange: Exchange,
  { layout, part, settings, senders, stock }: ProcessOptions,
): Promise<DeliveringExchange> {
  await using undo = new AsyncDisposableStack()
  const serve = (name: string, role: string, more = {}) =>
    exchange.serve(`${part}-${name}`, { ...settings, AEX_ROLE: role, ...more })
  const serveWorker = (name: string) => serve(name, 'worker', { AEX_WORKERS: '1' })
  const api = undo.use(await serve('api', layout === 'together' ? 'all' : 'api'))
  const worker = layout === 'together' ? api : undo.use(await serveWorker('worker'))
  const tokens = tokensFor(senders, api)
  const processes = undo.move()
  return {
    layout,
    exchange,
    senders,
    api,
    worker,
    tokens,
    target: async () => ({ url: api.url, tokens: await tokens.fresh() }),
    stock,
    startWorker: async (name) => processes.use(await serveWorker(name)),
    [Symbol.asyncDispose]: () => processes.disposeAsync(),
  }
}

/** Process ids of the exchange, each once. */
export function pidsOf({ api, worker }: Pick<DeliveringExchange, 'api' | 'worker'>): readonly number[] {
  return [...new Set([api.pid, worker.pid])]
}

/** The number of addresses that the endpoints of these receivers need. */
export function endpointsOf(receivers: ReadonlyMap<number, number>): number {
  return [...receivers].reduce((sum, [fanOut, count]) => sum + fanOut * count, 0)
}

async function makeReceivers(
  { world }: Exchange,
  receivers: ReadonlyMap<number, number>,
  urls: readonly string[],
): Promise<Map<number, Organization[]>> {
  const made = new Map<number, Organization[]>()
  let used = 0
  for (const [fanOut, count] of receivers) {
    const organizations = await makeOrganizations(world, 'receiver', count)
    for (const organization of organizations) {
      await registerEndpoints(organization, urls.slice(used, used + fanOut))
      used += fanOut
    }
    made.set(fanOut, organizations)
  }
  return made
}

/** Registers webhook endpoints of an organization. */
export async function registerEndpoints(
  owner: Organization,
  urls: readonly string[],
  event_types: readonly string[] = ['package.accepted'],
): Promise<void> {
  for (const url of urls) {
    const answer = await owner.post('/v1/webhook-endpoints', { url, event_types })
    if (answer.status !== 201) throw new Error(answer.text)
  }
}
