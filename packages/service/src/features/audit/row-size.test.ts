import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'

const PAGE_BYTES = 8_192 - 24
/** Item pointer and alignment. */
const ROW_OVERHEAD = 4 + 8

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('[AUD-01] of the rows that are kept for ever, a page holds three policy receipts and four audit records', async () => {
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  for (let sent = 0; sent < 3; sent++) await sendPackage(seats, cars)
  const rows = await world.sql<{ name: string; bytes: number }[]>`
    select 'receipt' as name, max(pg_column_size(policy_receipt.*)) as bytes from policy_receipt
    union all select 'record', max(pg_column_size(audit_record.*)) from audit_record
      where policy_receipt_id is not null`
  const perPage = rows.map(({ name, bytes }) => [name, Math.floor(PAGE_BYTES / (bytes + ROW_OVERHEAD))])
  assert.deepEqual(perPage, [
    ['receipt', 3],
    ['record', 4],
  ])
})
