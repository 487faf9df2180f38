import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import { openDatabase, type Queries } from '@agent-exchange/database'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

/** As planned in a transaction that sends a statement by index, or without the settings. */
async function planOf(text: string, { isByIndex = true } = {}): Promise<string> {
  return db.begin(async (tx) => {
    if (isByIndex) await tx.byIndex`select 1`
    const rows = await tx.unsafe<{ 'QUERY PLAN': string }[]>(`explain ${text}`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  })
}

// A plan made on an empty table is kept while it grows: it must be the one for a full table from the start.
const STATEMENTS = {
  'packages by their ids': `select * from package where package_id = any('{a,b}')`,
  'a page of a thread': `select * from package where thread_id = 't' and thread_position > 1
    and thread_position <= 5001 and (sender_org_id = 'o' or recipient_org_id = 'o')
    order by thread_position limit 501`,
  'keys by both parts of their names': `select status from agent_key
    join unnest('{a}'::text[], '{k}'::text[]) as named (agent_id, key_id) using (agent_id, key_id)`,
  'states of packages': `update package set state = change.state from json_to_recordset('[]')
    as change (package_id text, state text) where package.package_id = change.package_id`,
  'counters of streams': `select last_sequence from unnest('{o}'::text[]) with ordinality as notified (organization_id, place)
    left join notification_stream using (organization_id)`,
  'endpoints that want an event': `select webhook_endpoint_id from unnest('{o}'::text[], '{e}'::text[])
    as notified (organization_id, event_type) join webhook_endpoint using (organization_id)
    where status = 'active' and (event_types = '{}' or event_type = any(event_types))`,
  'a page of a thread’s evidence': `select entries, (select audit_entries from policy_receipt
      where policy_receipt.policy_receipt_id = audit_record.policy_receipt_id) as kept
    from audit_record where thread_id = 't' and last_position > 1
    and last_position <= 5001 and (sender_org_id = 'o' or recipient_org_id = 'o') order by last_position limit 101`,
  'a page of a thread’s evidence with placeholders': `select entries from audit_record
    where thread_id = 't' and last_position > 1 and last_position <= 5001
    and (audit_record.sender_org_id = 'o' or audit_record.recipient_org_id = 'o'
      or (audit_record.chain_position is not null and audit_record.sender_org_id = audit_record.recipient_org_id
        and exists (select from package where package.package_id = audit_record.package_id
          and (package.sender_org_id = 'o' or package.recipient_org_id = 'o') offset 0)))
    order by last_position limit 101`,
  'heads of a thread’s packages': `select chain_link from package where thread_id = 't' and thread_position > 1
    and chain_position is not null and (sender_org_id = 'o' or recipient_org_id = 'o')
    order by thread_position limit 101`,
  'ends of chains': `update package set chain_position = change.position from json_to_recordset('[]')
    as change (package_id text, position bigint) where package.package_id = change.package_id`,
  'where the next page of evidence begins': `select first_position from audit_record
    where thread_id = 't' and last_position > 1 order by last_position limit 1`,
  'agents, whether they have a key, and what is stored for them': `select agent_id, stored_bytes, exists (
      select from agent_key where agent_key.agent_id = agent.agent_id and use = 'encryption'
        and (agent_key.status in ('active', 'retiring') or invalid_from collate "C" > '2026-03-02') offset 0)
    from agent join organization using (organization_id) left join organization_usage using (organization_id)
    where agent_id = any('{a,b}')`,
  'agents of an organization that have a key of an id': `select agent_id from agent join agent_key using (agent_id)
    where organization_id = 'o' and key_id = 'k' and use = 'signing' and (agent_id = 'a' or agent.status = 'active')`,
  'receipts of a package': `select package_receipt.state from package join package_receipt using (package_id)
    where package_id = any('{p}')`,
  'usage of organizations': `select policy_receipts from organization_usage where organization_id = any('{o}')`,
  'a policy receipt for the recipient': `select body from policy_receipt as receipt where policy_receipt_id = 'r'
    and (sender_org_id = 'o' or recipient_org_id = 'o' and exists (select from package
      where package.package_id = receipt.package_id and package.policy_receipt_id = receipt.policy_receipt_id offset 0))`,
  'endpoints of an organization, those that were deleted too': `
    select webhook_endpoint_id from webhook_endpoint where organization_id = 'o' and status <> 'deleted'
    union all select webhook_endpoint_id from webhook_endpoint where organization_id = 'o' and status = 'deleted'`,
  'recorded answers': `select record.* from unnest('{o}'::text[], '{s}'::text[], '{00}'::text[]) as claimed (o, s, k),
    lateral (select status, body from idempotency_record where organization_id = o and scope = s
      and key_hash = decode(k, 'hex') limit 1) as record`,
  'the oldest notifications': `select sequence from notification where notification_id < 'ntf_0'
    order by notification_id limit 1000`,
  'the content of a package': `select before, payload, after from package_content
    where package_id = 'p' and expires_at = '2026-03-02T08:00:00Z' order by part`,
  'contents that may go': `select expires_at, package_id from package_content
    where expires_at < '2026-03-02T08:00:00Z' and part = 0 order by expires_at, package_id limit 1000`,
  'policy receipts of a sender for a thread': `select policy_receipt_id from policy_receipt
    where thread_id = 't' and sender_org_id = 'o' and (accepted_at, audit_event_id) >= ('2026-03-02T08:00:00Z', 'a')
    order by accepted_at, audit_event_id limit 1000`,
  'policy receipts that retention looks at': `select policy_receipt_id, not exists (
      select from package where package.package_id = receipt.package_id
        and package.policy_receipt_id = receipt.policy_receipt_id offset 0)
    from policy_receipt as receipt where accepted_at > '2026-03-02T08:00:00Z' and accepted_at < '2026-03-03T08:00:00Z'
    order by accepted_at fetch first 1000 rows with ties`,
  'whether a client has fetched a package': `select from content_fetch where package_id = 'p' and client_id = 'c'`,
  'attempts for a package': `select outcome from delivery join delivery_attempt using (delivery_id)
    where package_id = 'p' and organization_id = 'o'`,
  'what became of a notification': `select from delivery where package_id = 'p' and notification_id = 'n'`,
  'the operator log of one operator': `select entry, recorded_at, actor, action, target, reason, details
    from operator_log where true and entry < 100 and actor = 'a' order by entry desc limit 51`,
  'the operator log of one object': `select entry from operator_log where true and target = 't' order by entry desc limit 51`,
  'the session of a browser': `select session_id, coalesce(session.role, operator.role) as role
    from operator_session as session
    left join operator on operator.name = session.operator_name and signed_in_by = 'token'
    where ended_at is null and expires_at > '2026-03-02T08:00:00Z' and last_seen_at > '2026-03-02T08:00:00Z'
      and (signed_in_by = 'oidc' or operator.name is not null and operator.disabled_at is null)
      and session.token_hash = '\\x00'`,
  'endpoints that are disabled': `select webhook_endpoint_id from webhook_endpoint
    where status = 'disabled' order by disabled_at desc limit 20`,
  'a page of the stream': `select body from notification where organization_id = 'o' and sequence > 1
    order by sequence limit 101`,
}

for (const [name, text] of Object.entries(STATEMENTS)) {
  test(`${name}: by index, on an empty database already`, async () => {
    const plan = await planOf(text)
    assert.match(plan, /Index (?:Only )?Scan/)
    assert.doesNotMatch(plan, /Seq Scan|Bitmap|Hash Join|Merge Join|Sort/, plan)
  })
}

test('[EVT-04] streams are moved on by index, and locked in the order of their names', async () => {
  const plan = await planOf(`
    update notification_stream set last_sequence = last_sequence + notified.count
    from (
      select * from unnest('{o}'::text[], '{1}'::bigint[]) as row (organization_id, count)
      order by organization_id) as notified
    where notification_stream.organization_id = notified.organization_id`)
  assert.match(
    plan,
    /Nested Loop[^]*Sort[^]*Function Scan[^]*Index Scan using notification_stream_pkey/,
    plan,
  )
  assert.doesNotMatch(plan, /Seq Scan|Bitmap|Hash Join|Merge Join/, plan)
})

test('a plan is made once for a statement that is sent by index, and kept', async () => {
  for (let i = 0; i < 8; i++) await db.byIndex`select from package where package_id = any(${[`p${i}`]})`
  const [plans] = await db.byIndex<{ custom: number; generic: number }[]>`
    select custom_plans as custom, generic_plans as generic from pg_prepared_statements
    where statement like 'select from package %'`
  assert.deepEqual({ ...plans }, { custom: 0, generic: 8 })
})

test('the planner settings apply to statements by index, and in a transaction from the first of them to its end', async () => {
  const setting = async (queries: Queries) =>
    (await queries<{ value: string }[]>`select current_setting('enable_seqscan') as value`)[0]?.value
  const single = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  const [row] = await single.byIndex<{ value: string }[]>`select current_setting('enable_seqscan') as value`
  assert.deepEqual([row?.value, await setting(single)], ['off', 'on'])
  const inside = await single.begin(async (tx) => [
    await setting(tx),
    await tx.byIndex`select 1`.then(() => setting(tx)),
  ])
  assert.deepEqual([...inside, await single.begin(setting)], ['on', 'off', 'on'])
  await single.end()
})

test('without named statements the planner settings are sent with each statement by index, and with no other', async () => {
  const target = `${database.url}?prepare=false`
  const plain = openDatabase({ target, maximumConnections: 1, applicationName: 'test' })
  const setting = async (query: Queries['byIndex']) =>
    (await query<{ value: string }[]>`select current_setting('enable_seqscan') as value`)[0]?.value
  assert.deepEqual([await setting(plain.byIndex), await setting(plain)], ['off', 'on'])
  await plain.end()
})

test('statements that are not sent by index read no whole table either', async () => {
  for (const name of ['packages by their ids', 'receipts of a package', 'usage of organizations'] as const)
    assert.doesNotMatch(await planOf(STATEMENTS[name], { isByIndex: false }), /Seq Scan/, name)
})
