import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { testServerUrl } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'

const NOW = '2026-03-02T08:00:00.000Z'
const MIGRATION = '0005-worker-locks-and-standby-keys.sql'
const open = (target: string) => openDatabase({ target, maximumConnections: 2, applicationName: 'test' })

test('the upgrade of a database with deliveries, claims, endpoints and keys treats claimed deliveries as started', async () => {
  const server = await testServerUrl()
  const name = `aex_test_${randomBytes(8).toString('hex')}`
  const administrator = open(server)
  await administrator.unsafe(`create database ${name} template template0`)
  const db = open(Object.assign(new URL(server), { pathname: `/${name}` }).href)
  try {
    const migrations = readServiceMigrations()
    await migrate(
      db,
      migrations.filter((migration) => migration.name < MIGRATION),
    )
    await db.unsafe(`
      insert into organization values ('org_a', 'A', null, 'active', '${NOW}');
      insert into platform_key (key_id, purpose, public_jwk, private_key_encrypted, valid_from, valid_until, status, created_at)
        values ('key_1', 'webhook', '{}', '\\x00', '${NOW}', '${NOW}', 'active', '${NOW}');
      insert into webhook_endpoint
        (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
        select id, 'org_a', 'https://agent.example/', '{}', 'key_1', 'active', '${NOW}', '${NOW}'
        from unnest(array['whe_works', 'whe_new']) as id;
      insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
        attempt, next_attempt_at, leased_until, leased_by, created_at, finished_at)
        values
        ('dlv_done', 'whe_works', 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'delivered', 1, '${NOW}', null, null, '${NOW}', '${NOW}'),
        ('dlv_open', 'whe_works', 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending', 2, '${NOW}', '${NOW}', 'wrk_1', '${NOW}', null),
        ('dlv_waits', 'whe_new', 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending', 0, '${NOW}', null, null, '${NOW}', null);
      insert into delivery_claim (leased_until, worker, delivery_ids) values
        ('${NOW}', 'wrk_1', '{dlv_open,dlv_done}'), ('${NOW}', 'wrk_1', '{dlv_open}')`)
    await migrate(db, migrations)
    const deliveries = await db`
      select delivery_id, claim_id is not null as is_claimed, begun_at from delivery
      left join delivery_claim using (claim_id) order by delivery_id`
    assert.deepEqual(
      deliveries.map((row) => [row['delivery_id'], row['is_claimed'], row['begun_at']]),
      [
        ['dlv_done', false, null],
        ['dlv_open', true, '2026-03-02T07:59:30.000Z'],
        ['dlv_waits', false, null],
      ],
    )
    const endpoints = await db`select webhook_endpoint_id, answered_at from webhook_endpoint order by 1`
    assert.deepEqual(
      endpoints.map((row) => [row['webhook_endpoint_id'], row['answered_at']]),
      [
        ['whe_new', null],
        ['whe_works', NOW],
      ],
    )
    const [key] = await db`select standby from platform_key`
    assert.equal(key?.['standby'], false)
  } finally {
    await db.end()
    await administrator.unsafe(`drop database ${name} with (force)`)
    await administrator.end()
  }
})
