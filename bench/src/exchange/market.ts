import type { Organization } from '@agent-exchange/testkit'
import { startLoad, type LoadProcess } from '../load/load.ts'
import type { StockOrder } from '../load/stock.ts'
import type { TestBed } from './test-bed.ts'
import type { Exchange } from './exchange.ts'
import { makeOrganizations, toParty, tokensFor, type Tokens } from './parties.ts'

/** Concurrent clients, each a separate organization. */
export const CLIENTS = 64
const RECEIVERS = 100

/** Organizations that exchange packages, and the process that sends for them. */
export interface Market {
  readonly exchange: Exchange
  readonly senders: readonly Organization[]
  readonly receivers: readonly Organization[]
  readonly load: LoadProcess
  /** Tokens of the senders at the service without TLS. */
  readonly tokens: Tokens
  /** An order of packages from the senders to all receivers or to the first ones. */
  order(name: string, more?: Partial<StockOrder>, receivers?: number): StockOrder
}

const markets = new WeakMap<TestBed, Promise<Market>>()

/** Created once per environment, through the API. */
export function marketOf(bed: TestBed): Promise<Market> {
  const known = markets.get(bed) ?? openMarket(bed)
  markets.set(bed, known)
  return known
}

async function openMarket(bed: TestBed): Promise<Market> {
  const exchange = await bed.main()
  const senders = await makeOrganizations(exchange.world, 'sender', CLIENTS)
  const receivers = await makeOrganizations(exchange.world, 'receiver', RECEIVERS)
  return {
    exchange,
    senders,
    receivers,
    load: bed.keep(startLoad()),
    tokens: tokensFor(senders, exchange.service),
    order: (name, more = {}, receiving = RECEIVERS) => ({
      name,
      kind: 'packages',
      senders: senders.map(toParty),
      receivers: receivers.slice(0, receiving).map(toParty),
      ...more,
    }),
  }
}
