import type { Organization } from '@agent-exchange/testkit'
import { registerEndpoints } from '../delivery/endpoints.ts'
import type { Receiver } from '../delivery/receiver.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Target } from '../load/stock.ts'
import type { Served } from '../processes/serve.ts'
import type { Bed } from './bed.ts'
import type { Exchange } from './exchange.ts'
import { makeOrganizations, toParty, tokensFor, type Tokens } from './parties.ts'
import type { PostgresServer } from './postgres-server.ts'

/** Whether the API and the delivery worker share a process (AEX_ROLE=all) or not (api and worker). */
export type Layout = 'together' | 'apart'

/** What measures an exchange: processes that send and receive, and the database server that it works on. */
export interface Rig {
  readonly load: LoadProcess
  readonly receiver: Receiver
  readonly postgres: PostgresServer
}

export interface DeliveringOptions {
  readonly name: string
  readonly layout: Layout
  readonly senders: number
  /** Receiving organizations by the number of webhook endpoints that each of them has. */
  readonly receivers: ReadonlyMap<number, number>
  /** The command `aex` of another revision. */
  readonly program?: string
}

/** An exchange that accepts packages and delivers webhooks. It is used through the outer contract alone. */
export interface DeliveringExchange {
  readonly name: string
  readonly layout: Layout
  readonly api: Served
  /** The process that delivers. */
  worker: Served
  /** A token for each of the senders, now. */
  target(): Promise<Target>
  readonly tokens: Tokens
  /** The stock of packages to organizations with this many endpoints; without any for 0. */
  stock(fanOut: number): string
  /** Starts another process that delivers; it ends with the exchange. */
  startWorker(name: string): Promise<Served>
}

export async function startDelivering(
  bed: Bed,
  rig: Rig,
  cleanup: AsyncDisposableStack,
  { name, layout, senders: senderCount, receivers, program }: DeliveringOptions,
): Promise<DeliveringExchange> {
  const { settings } = rig.receiver
  const role = layout === 'together' ? 'all' : 'api'
  const exchange = cleanup.use(await bed.exchange(name, { ...settings, AEX_ROLE: role }, program))
  const startWorker = async (part: string) =>
    cleanup.use(await exchange.serve(part, { ...settings, AEX_ROLE: 'worker', AEX_WORKERS: '1' }))
  const worker = layout === 'together' ? exchange.service : await startWorker('worker')
  const senders = await makeOrganizations(exchange.world, 'sender', senderCount)
  const stock = (fanOut: number) => `${name}, fan-out ${fanOut}`
  const order = (fanOut: number, to: readonly Organization[]) =>
    rig.load.call('createStock', {
      name: stock(fanOut),
      kind: 'packages',
      senders: senders.map(toParty),
      receivers: to.map(toParty),
      receipts: { by: 'api' },
    })
  // To each other: none of them has an endpoint.
  await order(0, [...senders.slice(1), ...senders.slice(0, 1)])
  for (const [fanOut, organizations] of await makeReceivers(exchange, receivers, rig.receiver.origins)) {
    await order(fanOut, organizations)
  }
  const tokens = tokensFor(senders, exchange.service)
  const { url } = exchange.service
  return {
    name,
    layout,
    api: exchange.service,
    worker,
    tokens,
    target: async () => ({ url, tokens: await tokens.fresh() }),
    stock,
    startWorker,
  }
}

/** Process ids of the exchange, each once. */
export function pidsOf({ api, worker }: DeliveringExchange): readonly number[] {
  return [...new Set([api.pid, worker.pid])]
}

/** The number of addresses that the endpoints of these receivers need. */
export function endpointsOf(receivers: ReadonlyMap<number, number>): number {
  return [...receivers].reduce((sum, [fanOut, count]) => sum + fanOut * count, 0)
}

async function makeReceivers(
  { world }: Exchange,
  receivers: ReadonlyMap<number, number>,
  origins: readonly string[],
): Promise<Map<number, Organization[]>> {
  const made = new Map<number, Organization[]>()
  let used = 0
  for (const [fanOut, count] of receivers) {
    const organizations = await makeOrganizations(world, 'receiver', count)
    for (const organization of organizations) {
      const own = origins.slice(used, used + fanOut)
      used += fanOut
      await registerEndpoints(
        organization,
        own.map((origin) => `${origin}/hook`),
      )
    }
    made.set(fanOut, organizations)
  }
  return made
}
