import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Transaction } from '@agent-exchange/database'
import { readSenderRules } from './consent-store.ts'
import { planEnd } from './end-plan.ts'
import { REMOVALS, STEP_ROWS } from './end-removals.ts'
import { listInvitations } from './invitation-store.ts'

const ROWS = 20_000
const NOW = '2026-03-02T08:00:00.000Z'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

// Everything belongs to org_big; org_small has one endpoint and nothing else.
await db.unsafe(`
  insert into organization values ('org_big', 'Big', null, 'active', '${NOW}'), ('org_small', 'Small', null, 'active', '${NOW}');
  insert into notification_stream (organization_id) values ('org_big'), ('org_small');
  insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', '${NOW}', '${NOW}', 'active', '${NOW}');
  insert into webhook_endpoint (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at,
    updated_at)
  select 'whe_' || name, 'org_' || name, 'https://agent.example/', '{}', 'key_1', 'active', '${NOW}', '${NOW}'
  from unnest('{big,small}'::text[]) as name;
  insert into notification (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
  select 'org_big', number, 'ntf_' || number, 'evt_' || number, 'package.accepted', 'pkg', '{}', '${NOW}'
  from generate_series(1, ${ROWS}) as number;
  insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
    next_attempt_at, created_at)
  select 'dlv_' || number, 'whe_big', 'org_big', 'pkg', 'ntf_' || number, 'evt_' || number,
    (array['pending', 'delivered', 'failed', 'dead'])[1 + number % 4], '${NOW}', '${NOW}'
  from generate_series(1, ${ROWS}) as number;
  insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
  select 'org_big', 'test', decode(lpad(to_hex(number), 8, '0'), 'hex'), '', 200, '{}', '${NOW}'
  from generate_series(1, ${ROWS}) as number;
  insert into invitation (invitation_id, organization_id, secret_hash, created_at, created_by, expires_at)
  select 'invitation_' || number, 'org_big', sha256(number::text::bytea), '${NOW}', 'admin', '${NOW}'
  from generate_series(1, ${ROWS}) as number;
  analyze`)

/** Rows that the work read from each table, whether by an index or without one. */
async function rowsRead(work: (tx: Transaction) => Promise<unknown>): Promise<Map<string, number>> {
  return db.begin(async (tx) => {
    await tx.byIndex`select set_config('aex.retention', 'on', true)`
    const before = await counters(tx)
    await work(tx)
    const counted = await counters(tx)
    return new Map([...counted].map(([table, count]) => [table, count - (before.get(table) ?? 0)]))
  })
}

/** They include what the session has not yet reported of earlier transactions. */
async function counters(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx<{ relname: string; count: number }[]>`
    select relname, (seq_tup_read + coalesce(idx_tup_fetch, 0))::bigint as count from pg_stat_xact_user_tables`
  return new Map(rows.map(({ relname, count }) => [relname, count]))
}

/** Rows of small tables and of the organization itself. */
const FEW = 100

test('the plan of an end reads no large table whole', async () => {
  const read = await rowsRead((tx) => planEnd(tx, { organization_id: 'org_small', contact: null }))
  for (const [table, count] of read) assert.ok(count <= FEW, `${table}: ${count} rows`)
})

for (const [what, remove] of Object.entries(REMOVALS)) {
  test(`the removal of ${what} reads only rows of the organization`, async () => {
    const read = await rowsRead((tx) => remove(tx, 'org_small', NOW))
    for (const [table, count] of read) assert.ok(count <= FEW, `${table}: ${count} rows`)
  })

  test(`one step of the removal of ${what} is bounded`, async () => {
    let removed = 0
    const read = await rowsRead(async (tx) => {
      removed = await remove(tx, 'org_big', NOW)
    })
    assert.ok(removed <= STEP_ROWS)
    // Selected, checked and deleted; deliveries in each of their states.
    for (const [table, count] of read) assert.ok(count <= 6 * STEP_ROWS, `${table}: ${count} rows`)
  })
}

test('a page of invitations reads only its rows', async () => {
  for (const organizationId of [undefined, 'org_big', 'org_small']) {
    const read = await rowsRead((tx) => listInvitations(tx, { organizationId, before: undefined, limit: 26 }))
    assert.ok((read.get('invitation') ?? 0) <= FEW, `${organizationId}: ${read.get('invitation')} rows`)
  }
})

test('[O-50] a batch reads the rules of its senders and recipients only, also by a plan from when there were none', async () => {
  const sendings = Array.from({ length: 32 }, (_, index) => ({
    senderId: `org_sender_${index}`,
    recipientId: 'org_big',
  }))
  const rules = (tx: Transaction) => readSenderRules(tx, sendings, DEFAULT_PROFILE)
  assert.equal((await db.begin(rules)).size, 0)
  await db.unsafe(`
    insert into organization (organization_id, name, created_at)
    select 'org_sender_' || number, 'S', '${NOW}' from generate_series(0, 2000) as number;
    insert into sender_rule (organization_id, sender_org_id, rule, changed_at)
    select 'org_big', 'org_sender_' || number, 'block', '${NOW}' from generate_series(0, 2000) as number`)
  const read = await rowsRead(async (tx) => assert.equal((await rules(tx)).size, 32))
  assert.equal(read.get('sender_rule'), 32)
  assert.equal(read.get('organization') ?? 0, 0)
})
