import { readFileSync } from 'node:fs'
import type { TestBed } from '../exchange/test-bed.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'

/** Copied from the database of the service, so that both have the same parties. */
const COPIED: Readonly<Record<string, readonly string[]>> = {
  organization: ['organization_id', 'status'],
  oauth_client: ['client_id', 'organization_id', 'status'],
  agent: ['agent_id', 'organization_id', 'status', 'protocol_versions', 'transport_modes'],
  agent_key: ['agent_id', 'key_id', 'use', 'status', 'valid_from', 'invalid_from'],
  webhook_endpoint: ['webhook_endpoint_id', 'organization_id', 'url', 'signing_key_id', 'status'],
}

/** A database with the naive schema on the same server, and the parties that the exchange has now. */
export async function makeNaiveDatabase(
  { postgres }: TestBed,
  { world, database }: Exchange,
): Promise<DatabaseTarget> {
  const name = `${database.database}_naive`
  await postgres.drop(name)
  const target = await postgres.create(name)
  await using db = open(target)
  await db.unsafe(readFileSync(new URL('naive-schema.sql', import.meta.url), 'utf8'))
  for (const [table, columns] of Object.entries(COPIED)) {
    const list = columns.join(', ')
    const [row] = await world.sql.unsafe<{ rows: string }[]>(
      `select coalesce(json_agg(copied), '[]')::text as rows from (select ${list} from ${table}) as copied`,
    )
    await db.unsafe(
      `insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, $1::text::json)`,
      [row?.rows ?? '[]'],
    )
  }
  await db`insert into notification_stream (organization_id) select organization_id from organization`
  return target
}
