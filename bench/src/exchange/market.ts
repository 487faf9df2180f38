import { draftPackage, submitPackage, type Organization } from '@agent-exchange/testkit'
import { startLoad, type LoadProcess } from '../load/load.ts'
import type { ReceiptTemplate } from '../rows/receipt-rows.ts'
import type { TestBed } from './test-bed.ts'
import type { Exchange } from './exchange.ts'
import { makeOrganizations, tokensFor, type Tokens } from './parties.ts'

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
  /** A policy receipt as stored by the service. */
  readonly template: ReceiptTemplate
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
  const { world, service } = exchange
  const senders = await makeOrganizations(world, 'sender', CLIENTS)
  const receivers = await makeOrganizations(world, 'receiver', RECEIVERS)
  return {
    exchange,
    senders,
    receivers,
    load: bed.keep(startLoad()),
    tokens: tokensFor(senders, service),
    template: await firstReceipt(exchange, senders, receivers),
  }
}

/** Sends one package through the API. Other policy receipts are copies of its row. */
async function firstReceipt(
  { world }: Exchange,
  [from]: readonly Organization[],
  [to]: readonly Organization[],
): Promise<ReceiptTemplate> {
  if (!from || !to) throw new Error('nobody to trade')
  const draft = await draftPackage(from, to)
  const receipt = await from.post('/v1/policy-receipts', draft.receipt)
  if (receipt.status !== 201) throw new Error(receipt.text)
  const [row] = await world.sql<{ row: string }[]>`
    select row_to_json(policy_receipt)::text as row from policy_receipt
    where policy_receipt_id = ${draft.metadata.policy_receipt_id}`
  if (!row) throw new Error('the table of policy receipts has changed')
  const answer = await submitPackage(from, draft)
  if (answer.status !== 202) throw new Error(answer.text)
  return { row: row.row, metadata: draft.metadata }
}
