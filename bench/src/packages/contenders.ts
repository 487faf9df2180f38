import { tokensFor } from '../exchange/parties.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { marketOf, type Market } from '../exchange/market.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import type { StockSource } from '../load/load-main.ts'
import type { Served } from '../processes/serve.ts'
import { makeNaiveDatabase } from '../reference/naive-database.ts'
import { startReferenceProcess } from '../reference/reference-process.ts'
import type { ReferenceServer } from '../reference/reference-settings.ts'
import type { PackageServer } from './run-load.ts'

/** The id is the first part of the names of its figures. */
export interface Contender extends PackageServer {
  readonly id: string
  readonly label: string
  /** False for the references. */
  readonly isService: boolean
}

/** Enough that no two requests in flight are equal. */
const FLOOR_STOCK = 256

/** Starts all contenders. The stack disposes of them. Contenders of a ratio are neighbours, so that a disturbance affects both. */
export async function startContenders(
  bed: TestBed,
  cleanup: AsyncDisposableStack,
  { workers, isQuick }: { readonly workers: number; readonly isQuick: boolean },
): Promise<{ market: Market; contenders: readonly Contender[] }> {
  const market = await marketOf(bed)
  const { exchange, senders, load, tokens, order } = market
  await load.call('createStock', order('spread', { needsReceipts: true }))
  await load.call('createStock', order('hot', { needsReceipts: true }, 1))
  await load.call('createStock', order('naive', { needsReceipts: true }))
  await load.call('createStock', order('floor'))
  await load.call('fill', 'floor', FLOOR_STOCK)

  const service = (id: string, label: string, at: Served, stock = 'spread', ca?: string): Contender => ({
    id,
    label: `service${label}`,
    address: { url: at.url, ca },
    pid: at.pid,
    isService: true,
    tokens: at === exchange.service ? tokens : tokensFor(senders, at, ca),
    source: { kind: 'stock', stock },
  })
  const reference = async (
    id: string,
    label: string,
    server: ReferenceServer,
    source: Omit<StockSource, 'kind'>,
  ): Promise<Contender> => {
    const at = cleanup.use(await startReferenceProcess(exchange, senders, { workers, server }))
    const address = { url: at.url }
    return { id, label, address, pid: at.pid, isService: false, tokens, source: { kind: 'stock', ...source } }
  }
  const serve = async (id: string, label: string, env: Readonly<Record<string, string>>) =>
    service(id, label, cleanup.use(await exchange.serve(id, env)))

  const repeated = { stock: 'floor', isRepeated: true }
  const naive = { kind: 'naive', database: await makeNaiveDatabase(bed, exchange) } as const
  const tls = cleanup.use(await exchange.serve('tls', await tlsSettings(bed), 'https'))
  const contenders = [
    await reference('floor', 'floor: same server, parse and verify only', { kind: 'floor' }, repeated),
    service('accepted', ', 100 receiving organizations', exchange.service),
    service('accepted_hot', ', one receiving organization', exchange.service, 'hot'),
    service('accepted_tls', ' over TLS', tls, 'spread', bed.authority.certificate),
    await reference('naive', 'naive: one statement after another', naive, { stock: 'naive' }),
  ]
  if (isQuick) return { market, contenders }
  const [floor, ...others] = contenders
  const bare = await reference('bare', 'bare floor: no schemas, limits, log', { kind: 'bare' }, repeated)
  const socketUrl = bed.postgres.socketUrlOf(exchange.database)
  // With a direct address, DATABASE_URL counts as a pooler: no statement has a name.
  const directUrl = `${urlOf(exchange.database)}?application_name=direct`
  return {
    market,
    contenders: [
      bare,
      ...(floor ? [floor] : []),
      ...others,
      await serve('accepted_socket', ', Unix socket of the embedded database', { DATABASE_URL: socketUrl }),
      await serve('accepted_unnamed', ', unnamed statements as for PgBouncer', {
        AEX_DATABASE_DIRECT_URL: directUrl,
      }),
    ],
  }
}

async function tlsSettings({ authority, file }: TestBed) {
  const { certificate, key } = await authority.server()
  return { AEX_TLS_CERT: file('tls.crt', certificate), AEX_TLS_KEY: file('tls.key', key) }
}
