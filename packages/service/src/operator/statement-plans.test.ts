import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Queries } from '@agent-exchange/database'
import { recordsOfPackages } from '../features/audit/package-records.ts'
import { withContext } from '../webhooks/queue/delivery-context.ts'
import { listDeliveries } from '../webhooks/queue/delivery-queries.ts'
import { lastFailedOf, readEndpointHistory } from '../webhooks/endpoints/endpoint-history.ts'
import { findById } from '../features/lookup/find-by-id.ts'
import { listPackages, MAXIMUM_SCANNED, type PackageFilter } from '../features/packages/list-packages.ts'
import { findPackageDetails, packagesOfThread } from '../features/packages/package-facts.ts'
import { findThread } from '../features/threads/store.ts'
import { alertSteps, attemptSteps, deliveriesOf } from '../features/timeline/delivery-steps.ts'
import { keySteps } from '../features/timeline/key-steps.ts'
import { notificationsOf } from '../features/timeline/notification-steps.ts'
import { orderedId } from '../kernel/ids.ts'

const PACKAGES = 20_000
const START = '2026-03-02T08:00:00.000Z'
const NOW = '2026-03-02T14:00:00.000Z'
const ENDPOINT = 'whe_1'

const database = await openTestDatabase(4)
const { db } = database
after(() => database[Symbol.asyncDispose]())

// A package a second; each has a notification for both parties and a delivery, of which one in a hundred failed.
const timed = (prefix: string, name: string) => `
  '${prefix}_' || lpad(to_hex((extract(epoch from timestamptz '${START}') * 1000)::bigint + number * 1000), 12, '0')
    || lpad(to_hex(${name}), 20, '0')`
await db.unsafe(`
  insert into organization values ('org_a', 'A', null, 'active', '${START}'), ('org_b', 'B', null, 'active', '${START}');
  insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', '${START}', '${START}', 'active', '${START}');
  insert into webhook_endpoint (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at,
    updated_at)
  values ('${ENDPOINT}', 'org_b', 'https://agent.example/', '{}', 'key_1', 'active', '${START}', '${START}');
  insert into thread (thread_id, transport_mode, protocol_version, created_at, pairs)
  select 'thread_' || number, 'native', '1', '${START}', '{"org_a org_b"}' from generate_series(1, ${PACKAGES}) as number;
  insert into package (package_id, thread_id, thread_position, sender_org_id, sender_agent_id, recipient_org_id,
    recipient_agent_id, transport_mode, state, metadata, content_digest, signing_key_id, policy_receipt_id, created_at,
    expires_at, accepted_at, updated_at, correlation_id)
  select 'pkg_' || number, 'thread_' || number, 1, 'org_a', 'agent_a', 'org_b', 'agent_b', 'native', 'delivered', '{}',
    'd', 'k', 'receipt_' || number, '', '${NOW}', timestamptz '${START}' + number * interval '1 second',
    timestamptz '${START}' + number * interval '1 second', 'corr_' || number
  from generate_series(1, ${PACKAGES}) as number;
  insert into notification (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
  select organization_id, number, ${timed('ntf', 'number * 2 + party')}, ${timed('evt', 'number')}, 'package.accepted',
    'pkg_' || number, '{}', timestamptz '${START}' + number * interval '1 second'
  from generate_series(1, ${PACKAGES}) as number, (values ('org_a', 0), ('org_b', 1)) as parties (organization_id, party)
  -- In no order: the planner would count on neighbours in the index being neighbours in the table.
  order by md5(number::text);
  insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
    attempt, next_attempt_at, created_at)
  select ${timed('dlv', 'number')}, '${ENDPOINT}', 'org_b', 'pkg_' || number, ${timed('ntf', 'number * 2 + 1')},
    ${timed('evt', 'number')}, case when number % 100 = 0 then 'dead' else 'delivered' end, 1, '${START}', '${START}'
  from generate_series(1, ${PACKAGES}) as number;
  insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
  select delivery_id, 1, created_at, 'delivered', '{}' from delivery;
  insert into audit_record (thread_id, first_position, last_position, package_id, sender_org_id, recipient_org_id,
    entries, log_batch_id, log_offset)
  select 'thread_' || number, 1, 1, 'pkg_' || number, 'org_a', 'org_b', '[]', '\\x00', 0
  from generate_series(1, ${PACKAGES}) as number;
  insert into package_receipt (package_id, receipt_id, state, body, signature_form, accepted_at, actor_agent_id, signing_key_id)
  select 'pkg_' || number, 'rcpt_' || number, 'received', '{}', 'bound', '${NOW}', 'agent_b', 'k'
  from generate_series(1, ${PACKAGES}) as number;
  insert into policy_receipt (policy_receipt_id, package_id, sender_org_id, recipient_org_id, accepted_at, eligible,
    audit_event_id, audit_entries, signing_key_id)
  select 'receipt_' || number, 'pkg_' || number, 'org_a', 'org_b', '${NOW}', true, 'a', '', 'k'
  from generate_series(1, ${PACKAGES}) as number;
  analyze`)

/** The plans of all statements that a function sends, with what they read. */
async function plansOf(run: (queries: Queries) => Promise<unknown>): Promise<string[]> {
  const plans: Promise<string>[] = []
  const explaining =
    (send: Queries['byIndex']) =>
    (strings: TemplateStringsArray, ...values: []) => {
      const texts = [`explain (analyze, costs off, timing off) ${strings[0]}`, ...strings.slice(1)]
      const explained = send<Record<string, string>[]>(Object.assign(texts, { raw: texts }), ...values)
      plans.push(explained.then((rows) => rows.map((row) => row['QUERY PLAN']).join('\n')))
      return explained.then(() => send(strings, ...values))
    }
  const queries = Object.assign(explaining(db), { byIndex: explaining(db.byIndex), unsafe: db.unsafe })
  await run(queries as unknown as Queries)
  return Promise.all(plans)
}

const listed = (filter: PackageFilter, cursor?: string) => (queries: Queries) =>
  listPackages(queries, filter, { after: cursor, limit: 25, party: 'sender' })
const at = (number: number) => new Date(Date.parse(START) + number * 1_000).toISOString()
const delivery = {
  delivery_id: 'dlv_x',
  package_id: 'pkg_7',
  webhook_endpoint_id: ENDPOINT,
  organization_id: 'org_b',
  notification_id: 'n',
  state: 'dead',
  attempt: 7,
  replay_of: null,
} as const

/** By statement: the function that sends it, and how many rows a node of its plan may read. */
const STATEMENTS: Readonly<Record<string, [number, (queries: Queries) => Promise<unknown>]>> = {
  'search for a correlation id': [20, (queries) => findById(queries, 'corr_77')],
  'search for a receipt': [20, (queries) => findById(queries, 'rcpt_77')],
  'search for an event': [20, (queries) => findById(queries, orderedId('evt', at(77)))],
  'packages of all': [MAXIMUM_SCANNED, listed({})],
  'packages of an organization': [MAXIMUM_SCANNED, listed({ organizationId: 'org_b' })],
  'packages of an organization, later page': [MAXIMUM_SCANNED, listed({ organizationId: 'org_b' }, '9000')],
  'packages since a time': [MAXIMUM_SCANNED, listed({ since: at(19_990) })],
  'packages of an organization until a time': [
    MAXIMUM_SCANNED,
    listed({ organizationId: 'org_b', until: at(9_000), state: 'revoked' }),
  ],
  'packages of an organization since a time': [
    MAXIMUM_SCANNED,
    listed({ organizationId: 'org_b', since: at(19_990), agentId: 'agent_none' }),
  ],
  'a package': [1, (queries) => findPackageDetails(queries, 'pkg_none')],
  'a thread': [1, (queries) => findThread(queries, 'thread_77')],
  'packages of a thread': [
    25,
    (queries) => packagesOfThread(queries, { threadId: 'thread_77', after: 0, limit: 25 }),
  ],
  'evidence of packages': [100, (queries) => recordsOfPackages(queries, ['pkg_7', 'pkg_8'], 100)],
  'deliveries of packages': [100, (queries) => deliveriesOf(queries, ['pkg_7', 'pkg_8'], 50)],
  'attempts of deliveries': [100, (queries) => attemptSteps(queries, [delivery])],
  'alerts of deliveries': [100, (queries) => alertSteps(queries, [delivery])],
  'changes of keys': [100, (queries) => keySteps(queries, [{ agentId: 'agent_a', keyId: 'k' }], START)],
  'notifications of packages': [
    100,
    (queries) =>
      notificationsOf(queries, {
        packageIds: ['pkg_7', 'pkg_8'],
        times: [at(7), at(8)],
        notificationIds: ['ntf_none'],
        limit: 100,
      }),
  ],
  'what deliveries are about': [
    1,
    async (queries) => {
      const newest = await listDeliveries(db, {}, { after: undefined, limit: 1 })
      const [shown] = await withContext(queries, newest)
      assert.deepEqual(
        [shown?.event_type, shown?.endpoint_url],
        ['package.accepted', 'https://agent.example/'],
      )
    },
  ],
  'the last day of an endpoint': [1_000, (queries) => readEndpointHistory(queries, ENDPOINT, NOW)],
  'the last failed delivery of an endpoint': [100, (queries) => lastFailedOf(queries, ENDPOINT)],
}

for (const [name, [most, run]] of Object.entries(STATEMENTS)) {
  test(`${name}: reads no large table whole`, async () => {
    const plans = await plansOf(run)
    assert.ok(plans.length > 0)
    for (const plan of plans) {
      assert.match(plan, /Index (?:Only )?Scan/)
      assert.doesNotMatch(plan, /Seq Scan/, plan)
      const read = [...plan.matchAll(/(?:rows=|Rows Removed by \w[\w ]*: )([\d.]+)/gu)].map(([, rows]) =>
        Number(rows),
      )
      assert.ok(Math.max(...read) <= most, plan)
    }
  })
}

test('lists and lookups find what the plans say they read', async () => {
  assert.equal((await findById(db, 'corr_77')).length, 1)
  const first = await listed({ organizationId: 'org_b', state: 'revoked' })(db)
  assert.deepEqual([first.rows.length, first.next], [0, String(PACKAGES - MAXIMUM_SCANNED + 1)])
  const bounded = await listed({ organizationId: 'org_b', state: 'revoked', since: at(19_990) })(db)
  assert.equal(bounded.next, undefined)
  const { intervals } = await readEndpointHistory(db, ENDPOINT, NOW)
  assert.deepEqual(
    [
      Math.max(...intervals.map(({ delivered }) => delivered)),
      Math.max(...intervals.map(({ dead }) => dead)),
    ],
    [1_000, 36],
  )
})
