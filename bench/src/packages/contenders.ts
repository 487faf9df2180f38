import { toParty, tokensFor, type Tokens } from '../exchange/parties.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { marketOf, type Market } from '../exchange/market.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import type { StockOrder, StockSource } from '../load/load-main.ts'
import type { Served } from '../processes/serve.ts'
import { makeNaiveDatabase } from '../reference/naive-database.ts'
import { startReferenceProcess } from '../reference/reference-process.ts'
import type { ReferenceServer } from '../reference/reference-settings.ts'

export type ContenderName = 'spread' | 'floor' | 'hot' | 'naive' | 'tls' | 'bare' | 'socket' | 'unnamed'

/** A server that accepts packages, and their source. */
export interface Contender {
  readonly name: ContenderName
  readonly label: string
  readonly address: { readonly url: string; readonly ca?: string }
  readonly pid: number
  /** False for the references. */
  readonly isService: boolean
  readonly tokens: Tokens
  readonly source: StockSource
}

/** Enough that no two requests in flight are equal. */
const FLOOR_STOCK = 256

/** Starts all contenders. The stack disposes of them. */
export async function startContenders(
  bed: TestBed,
  cleanup: AsyncDisposableStack,
  { workers, isQuick }: { readonly workers: number; readonly isQuick: boolean },
): Promise<{ market: Market; contenders: readonly Contender[] }> {
  const market = await marketOf(bed)
  const { exchange, senders, receivers, load, tokens } = market
  const naiveDatabase = await makeNaiveDatabase(bed, exchange)
  const reference = async (server: ReferenceServer) =>
    cleanup.use(await startReferenceProcess(exchange, senders, { workers, server }))
  const floor = await reference({ kind: 'floor' })
  const bare = isQuick ? undefined : await reference({ kind: 'bare' })
  const naive = await reference({ kind: 'naive', database: naiveDatabase })
  const tls = cleanup.use(await exchange.serve('tls', await tlsSettings(bed), 'https'))
  const socketUrl = bed.postgres.socketUrlOf(exchange.database)
  const socket = isQuick
    ? undefined
    : cleanup.use(await exchange.serve('socket', { DATABASE_URL: socketUrl }))
  // With a direct address, DATABASE_URL counts as a pooler: no statement has a name.
  const directUrl = `${urlOf(exchange.database)}?application_name=direct`
  const unnamed = isQuick
    ? undefined
    : cleanup.use(await exchange.serve('unnamed', { AEX_DATABASE_DIRECT_URL: directUrl }))

  const order = (name: string, receiving: number, databaseUrl?: string): StockOrder => ({
    name,
    kind: 'packages',
    senders: senders.map(toParty),
    receivers: receivers.slice(0, receiving).map(toParty),
    ...(databaseUrl !== undefined && {
      receipts: { by: 'rows' as const, databaseUrl, template: market.template },
    }),
  })
  await load.call('createStock', order('spread', receivers.length, urlOf(exchange.database)))
  await load.call('createStock', order('hot', 1, urlOf(exchange.database)))
  await load.call('createStock', order('naive', receivers.length, urlOf(naiveDatabase)))
  await load.call('createStock', order('floor', receivers.length))
  await load.call('fill', 'floor', FLOOR_STOCK)

  const ours = (
    name: ContenderName,
    label: string,
    at: Served,
    stock: string,
    certificate?: string,
  ): Contender => ({
    name,
    label: `service${label}`,
    address: { url: at.url, ...(certificate !== undefined && { ca: certificate }) },
    pid: at.pid,
    isService: true,
    tokens: at === exchange.service ? tokens : tokensFor(senders, at, certificate),
    source: { kind: 'stock', stock },
  })
  const other = (
    name: ContenderName,
    label: string,
    at: { readonly url: string; readonly pid: number },
    source: Omit<StockSource, 'kind'>,
  ): Contender => ({
    name,
    label,
    address: { url: at.url },
    pid: at.pid,
    isService: false,
    tokens,
    source: { kind: 'stock', ...source },
  })
  const repeated = { stock: 'floor', isRepeated: true }
  const contenders = [
    ours('spread', `, ${receivers.length} receiving organizations`, exchange.service, 'spread'),
    other('floor', 'floor: same server, parse and verify only', floor, repeated),
    bare && other('bare', 'bare floor: no schemas, no limits, no log', bare, repeated),
    ours('hot', ', one receiving organization', exchange.service, 'hot'),
    other('naive', 'naive: one statement after another', naive, { stock: 'naive' }),
    ours('tls', ' over TLS', tls, 'spread', bed.authority.certificate),
    socket && ours('socket', ', Unix socket of the embedded database', socket, 'spread'),
    unnamed && ours('unnamed', ', unnamed statements as for PgBouncer', unnamed, 'spread'),
  ].filter((contender) => contender !== undefined)
  return { market, contenders }
}

async function tlsSettings({ authority, file }: TestBed) {
  const { certificate, key } = await authority.server()
  return { AEX_TLS_CERT: file('tls.crt', certificate), AEX_TLS_KEY: file('tls.key', key) }
}
