import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'

const OWN = '0003-usage-and-signers.sql'

/** Rows as a database has them that an earlier release filled. */
const EARLIER_ROWS = `
  insert into organization (organization_id, name, created_at) values ('org_a', 'a', now()), ('org_b', 'b', now());
  insert into agent (agent_id, organization_id, implementation, implementation_version, protocol_versions, skill_versions,
    transport_modes, status, certification_status, registered_at, updated_at)
  select 'agent_' || n, case when n < 3 then 'org_a' else 'org_b' end, 'i', '1', '{}', '{}', '{}', 'active', 'none', now(), now()
  from generate_series(1, 3) as n;
  insert into policy_receipt (policy_receipt_id, package_id, sender_org_id, recipient_org_id, body, accepted_at, eligible,
    audit_event_id, audit_entries, signing_key_id)
  select 'receipt_' || n, 'pkg_' || n, 'org_a', 'org_b', '{}', now(), true, 'audit_1', '', 'k' from generate_series(1, 5) as n;
  insert into package (package_id, thread_id, thread_position, sender_org_id, sender_agent_id, recipient_org_id,
    recipient_agent_id, transport_mode, state, metadata, content_digest, signing_key_id, policy_receipt_id, created_at,
    expires_at, accepted_at, updated_at, correlation_id)
  select 'pkg_' || n, 'thread_1', n, 'org_a', 'agent_1', 'org_b', 'agent_3', 'native', 'revoked', '{}', 'd', 'k',
    'receipt_' || n, '2026-01-01T00:00:00Z', '2027-01-01', now(), now(), 'c'
  from generate_series(1, 2) as n;
  insert into package_content (expires_at, part, package_id, before, payload, after)
  select '2027-01-01', part, 'pkg_1', 'ab', 'cdé'::bytea, 'e' from generate_series(0, 1) as part;
  insert into package_receipt (package_id, receipt_id, state, body, signature_form, accepted_at)
  values ('pkg_1', 'r', 'received', '{"actor_agent_id":"agent_3","signature":{"key_id":"sig_3"}}', 'bound', now());
  insert into package_revocation (package_id, body, signature_form, revoked_at, audit_event_id)
  values ('pkg_1', '{}', 'bound', now(), 'audit_2')`

test('[O-13] an upgrade counts what is there, and says of each statement who signed it', async () => {
  await using database = await emptyTestDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
  const migrations = readServiceMigrations()
  const place = migrations.findIndex(({ name }) => name === OWN)
  await migrate(db, migrations.slice(0, place))
  await db.unsafe(EARLIER_ROWS)
  await migrate(db, migrations)
  const usage = await db`
    select organization_id, agents, policy_receipts, stored_bytes from organization_usage order by organization_id`
  assert.deepEqual(
    usage.map((row) => ({ ...row })),
    [
      { organization_id: 'org_a', agents: 2, policy_receipts: 3, stored_bytes: 2 * 7 },
      { organization_id: 'org_b', agents: 1, policy_receipts: 0, stored_bytes: 0 },
    ],
  )
  const [receipt] = await db`select actor_agent_id, signing_key_id from package_receipt`
  assert.deepEqual({ ...receipt }, { actor_agent_id: 'agent_3', signing_key_id: 'sig_3' })
  const [revocation] = await db`select agent_id from package_revocation`
  assert.equal(revocation?.['agent_id'], 'agent_1')
  await assert.rejects(db`update package_receipt set actor_agent_id = 'other'`, /append-only/)
  await assert.rejects(db`update package_revocation set agent_id = 'other'`, /append-only/)
  await db.end()
})
