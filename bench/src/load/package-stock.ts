import type { Party } from '../exchange/parties.ts'
import { open } from '../exchange/postgres-server.ts'
import { insertReceipts, type ReceiptTemplate } from '../rows/receipt-rows.ts'
import { openAll } from './connection.ts'
import { closedLoop } from './loops.ts'
import { packageMaker, type PackageWithReceipt } from './package-maker.ts'
import { createStock, requestOf, type Stock, type Target } from './stock.ts'

/**
 * Creates policy receipts as copies of a row, which is fast but depends on the table, or through the API, which works with
 * any revision of the service.
 */
export type ReceiptSource =
  | { readonly by: 'rows'; readonly databaseUrl: string; readonly template: ReceiptTemplate }
  | { readonly by: 'api' }

const PACKAGES = '/v1/packages'
const RECEIPTS = '/v1/policy-receipts'
const CREATED = 201
const RECEIPT_CLIENTS = 32
const RECEIPT_LIMIT_MS = 60_000

type MakeStock = (senders: readonly Party[], receivers: readonly Party[]) => Promise<Stock>

export const stockOfPackages =
  (receipts?: ReceiptSource): MakeStock =>
  async (senders, receivers) => {
    const { makePackage, makePackageWithReceipt } = await packageMaker(senders, receivers)
    if (receipts?.by === 'api') {
      return createStock({
        path: PACKAGES,
        make: makePackageWithReceipt,
        prepare: postReceipts,
      })
    }
    const db = receipts && open(receipts.databaseUrl)
    return createStock({
      path: PACKAGES,
      make: makePackage,
      prepare:
        db &&
        ((packages) =>
          insertReceipts(
            db,
            receipts.template,
            packages.map(({ metadata }) => metadata),
          )),
    })
  }

export const stockOfReceipts: MakeStock = async (senders, receivers) => {
  const { makeReceipt } = await packageMaker(senders, receivers)
  return createStock({ path: RECEIPTS, make: makeReceipt })
}

async function postReceipts(
  packages: readonly PackageWithReceipt[],
  target: Target | undefined,
): Promise<void> {
  if (!target) throw new Error('policy receipts need an address and tokens')
  const { host } = new URL(target.url)
  const waiting = packages.map((item) =>
    requestOf(RECEIPTS, host, target.tokens, { ...item, body: item.receipt }),
  )
  const connections = await openAll(target, RECEIPT_CLIENTS)
  try {
    const span = { rampMs: 0, measureMs: RECEIPT_LIMIT_MS, status: CREATED }
    const { requests } = await closedLoop(connections, () => waiting.pop(), span)
    if (requests < packages.length) throw new Error('policy receipts took too long')
  } finally {
    connections.forEach((connection) => connection.close())
  }
}
