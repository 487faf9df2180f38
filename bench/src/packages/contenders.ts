import { toParty, tokensFor, type Tokens } from '../exchange/parties.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { marketOf, type Market } from '../exchange/market.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import type { StockOrder, StockSource } from '../load/load-main.ts'
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
  const ca = bed.authority.certificate
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

  const { url, pid } = exchange.service
  const contenders: Contender[] = [
    {
      name: 'spread',
      label: `service, ${receivers.length} receiving organizations`,
      address: { url },
      pid,
      isService: true,
      tokens,
      source: { kind: 'stock', stock: 'spread' },
    },
    {
      name: 'floor',
      label: 'floor: same server, parse and verify only',
      address: { url: floor.url },
      pid: floor.pid,
      isService: false,
      tokens,
      source: { kind: 'stock', stock: 'floor', isRepeated: true },
    },
    ...(bare
      ? [
          {
            name: 'bare' as const,
            label: 'bare floor: no schemas, no limits, no log',
            address: { url: bare.url },
            pid: bare.pid,
            isService: false,
            tokens,
            source: { kind: 'stock' as const, stock: 'floor', isRepeated: true },
          },
        ]
      : []),
    {
      name: 'hot',
      label: 'service, one receiving organization',
      address: { url },
      pid,
      isService: true,
      tokens,
      source: { kind: 'stock', stock: 'hot' },
    },
    {
      name: 'naive',
      label: 'naive: one statement after another',
      address: { url: naive.url },
      pid: naive.pid,
      isService: false,
      tokens,
      source: { kind: 'stock', stock: 'naive' },
    },
    {
      name: 'tls',
      label: 'service over TLS',
      address: { url: tls.url, ca },
      pid: tls.pid,
      isService: true,
      tokens: tokensFor(senders, tls, ca),
      source: { kind: 'stock', stock: 'spread' },
    },
    ...(socket
      ? [
          {
            name: 'socket' as const,
            label: 'service, Unix socket of the embedded database',
            address: { url: socket.url },
            pid: socket.pid,
            isService: true,
            tokens: tokensFor(senders, socket),
            source: { kind: 'stock' as const, stock: 'spread' },
          },
        ]
      : []),
    ...(unnamed
      ? [
          {
            name: 'unnamed' as const,
            label: 'service, unnamed statements as for PgBouncer',
            address: { url: unnamed.url },
            pid: unnamed.pid,
            isService: true,
            tokens: tokensFor(senders, unnamed),
            source: { kind: 'stock' as const, stock: 'spread' },
          },
        ]
      : []),
  ]
  return { market, contenders }
}

async function tlsSettings({ authority, file }: TestBed) {
  const { certificate, key } = await authority.server()
  return { AEX_TLS_CERT: file('tls.crt', certificate), AEX_TLS_KEY: file('tls.key', key) }
}
