import { readFileSync } from 'node:fs'
import type { Database } from '@agent-exchange/database'
import type { World } from '@agent-exchange/testkit'
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
/** What the sequential loop delivers. */
const DELIVERIES: typeof COPIED = {
  notification: [
    'organization_id',
    'sequence',
    'notification_id',
    'event_id',
    'event_type',
    'package_id',
    'body',
    'occurred_at',
  ],
  delivery: [
    'delivery_id',
    'webhook_endpoint_id',
    'organization_id',
    'notification_id',
    'event_id',
    'state',
    'next_attempt_at',
    'created_at',
  ],
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
  await createNaiveSchema(world, db)
  return target
}

/** In an empty database. */
export async function createNaiveSchema(world: World, db: Database): Promise<void> {
  await db.unsafe(readFileSync(new URL('naive-schema.sql', import.meta.url), 'utf8'))
  await copyTables(world, db, COPIED)
  await db`insert into notification_stream (organization_id) select organization_id from organization`
}

/** Replaces the deliveries of the naive database by those that wait in the exchange now. */
export async function copyDeliveries({ world }: Exchange, naive: DatabaseTarget): Promise<void> {
  await using db = open(naive)
  await db`truncate delivery_attempt, delivery, notification`
  await copyTables(
    world,
    db,
    DELIVERIES,
    "where event_id in (select event_id from delivery where state = 'pending')",
  )
}

async function copyTables({ sql }: World, db: Database, tables: typeof COPIED, where = ''): Promise<void> {
  for (const [table, columns] of Object.entries(tables)) {
    const list = columns.join(', ')
    const [row] = await sql.unsafe<{ rows: string }[]>(
      `select coalesce(json_agg(copied), '[]')::text as rows from (select ${list} from ${table} ${where}) as copied`,
    )
    await db.unsafe(
      `insert into ${table} (${list}) select ${list} from json_populate_recordset(null::${table}, $1::text::json)`,
      [row?.rows ?? '[]'],
    )
  }
}
