/** The process that makes load, and nothing else. Started by `startLoad`. */

import { open } from '../exchange/postgres-server.ts'
import type { Party } from '../exchange/parties.ts'
import { answerCalls } from '../processes/calls.ts'
import { openAll, type Address, type Connection, type Outgoing } from './connection.ts'
import { closedLoop, openLoop, type Next, type Span } from './loops.ts'
import type { Outcome } from './outcome.ts'
import { packageMaker } from './package-maker.ts'
import { insertReceipts, type ReceiptTemplate } from '../rows/receipt-rows.ts'
import { createStock, type Stock } from './stock.ts'

/** Whom requests go to, and on whose behalf: a token for each sender. */
export interface Target extends Address {
  readonly tokens: readonly string[]
}

/** Where requests come from: one of the stocks, or addresses that are read again and again. */
export type Source = StockSource | ReadSource | PostSource

export interface StockSource {
  readonly kind: 'stock'
  /** The same ones again and again. */
  readonly isRepeated?: boolean
  readonly stock: string
}

export interface ReadSource {
  readonly kind: 'reads'
  readonly reads: readonly { readonly path: string; readonly sender: number }[]
}

/** The same bodies again and again, to a server that needs neither token nor key. */
export interface PostSource {
  readonly kind: 'posts'
  readonly path: string
  readonly bodies: readonly Uint8Array[]
}

export interface Load extends Span {
  readonly target: Target
  readonly source: Source
  /** Given: an open loop at this rate. Otherwise every client sends as soon as it may. */
  readonly perSecond?: number
}

export interface StockOrder {
  readonly name: string
  readonly kind: 'packages' | 'receipts'
  readonly senders: readonly Party[]
  readonly receivers: readonly Party[]
  /** Where receipts for the packages are put, if they are needed. */
  readonly receipts?: { readonly databaseUrl: string; readonly template: ReceiptTemplate }
}

const stocks = new Map<string, Stock>()
let connections: readonly Connection[] = []

function stockOf(name: string): Stock {
  const stock = stocks.get(name)
  if (!stock) throw new Error(`there is no stock ${name}`)
  return stock
}

function requestsFor(source: Source, { url, tokens }: Target): Next {
  const { host } = new URL(url)
  if (source.kind === 'stock') {
    const stock = stockOf(source.stock)
    return source.isRepeated ? stock.cycle(host, tokens) : stock.take(host, tokens)
  }
  return inTurn(source.kind === 'reads' ? readsOf(source, host, tokens) : postsOf(source, host))
}

function readsOf({ reads }: ReadSource, host: string, tokens: readonly string[]): Outgoing[] {
  return reads.map(({ path, sender }) => ({
    head:
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${tokens[sender] ?? ''}\r\n` +
      'X-Correlation-ID: corr_bench\r\n\r\n',
  }))
}

function postsOf({ path, bodies }: PostSource, host: string): Outgoing[] {
  return bodies.map((body) => ({
    head:
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
    body,
  }))
}

function inTurn(requests: readonly Outgoing[]): Next {
  let at = 0
  return () => requests[at++ % requests.length]
}

const calls = {
  async createStock({ name, kind, senders, receivers, receipts }: StockOrder): Promise<void> {
    const maker = await packageMaker(senders, receivers)
    const db = receipts && open(receipts.databaseUrl)
    stocks.set(
      name,
      createStock({
        path: kind === 'packages' ? '/v1/packages' : '/v1/policy-receipts',
        make: kind === 'packages' ? maker.makePackage : maker.makeReceipt,
        ...(db && { prepare: (packages) => insertReceipts(db, receipts.template, packages) }),
      }),
    )
  },
  fill: (name: string, count: number): Promise<void> => stockOf(name).fill(count),
  /** Before the clock starts, and before CPU time is counted: handshakes are not what is measured. */
  async connect(address: Address, clients: number): Promise<void> {
    connections = await openAll(address, clients)
  },
  async run(load: Load): Promise<Outcome> {
    const next = requestsFor(load.source, load.target)
    try {
      const { perSecond } = load
      return await (perSecond === undefined
        ? closedLoop(connections, next, load)
        : openLoop(connections, next, { ...load, perSecond }))
    } finally {
      connections.forEach((connection) => connection.close())
    }
  },
}

export type LoadCalls = typeof calls

answerCalls(calls)
