import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { openPostgresInbox } from '../stores/inbox.ts'
import { analyzeYoungTables } from './young-tables.ts'

const database = await gatewayDatabase()
const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await db.end()
  await database[Symbol.asyncDispose]()
})

const AT = '2026-03-02T08:00:00.000Z'
/** As long as a notification. */
const BODY = JSON.stringify({ text: 'x'.repeat(700) })
const EVENTS = 300

test('a table is analyzed once, when it has grown, and then each event is found without reading the others', async () => {
  const inbox = openPostgresInbox(db, await database.newAgent())
  let sequence = 0
  const handle = async (events: number) => {
    for (let count = 0; count < events; count++) {
      sequence += 1
      const [eventId, notificationId] = [`evt_${sequence}`, `ntf_${sequence}`]
      await inbox.store({ eventId, notificationId, sequence, body: BODY }, 'webhook', AT)
    }
    for (let event = await inbox.next(); event; event = await inbox.next()) {
      await inbox.beginAttempt(event.eventId, { holder: 'receiver_a', now: AT, until: AT })
      await inbox.finish(event.eventId, AT)
    }
  }
  assert.equal(await analyzeYoungTables(db), 0)
  // Plans are made, and kept.
  await handle(EVENTS)
  assert.ok((await analyzeYoungTables(db)) > 0)
  assert.equal(await analyzeYoungTables(db), 0)
  const before = await readRows()
  await handle(EVENTS)
  const rows = ((await readRows()) - before) / EVENTS
  // With one scan of all events for each, it would be more than 300.
  assert.ok(rows >= 1 && rows < 50, `${rows} rows were read for each event`)
})

async function readRows(): Promise<number> {
  // Each of the two sessions reports what it has read.
  await db`select pg_stat_force_next_flush()`
  await db.begin((tx) => tx`select pg_stat_force_next_flush()`)
  const [read] = await database.db<{ rows: number }[]>`
    select sum(idx_tup_read)::integer as rows from pg_stat_user_indexes where relname = 'agent_event'`
  return read?.rows ?? 0
}
