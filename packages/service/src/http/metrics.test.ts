import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, test } from 'node:test'
import {
  allDelivered,
  deliveryWorld,
  draftPackage,
  sendPackage,
  sendReceipt,
  submitPackage,
} from '@agent-exchange/testkit'

const made = await deliveryWorld()
after(() => made[Symbol.asyncDispose]())
const { world, receiver, sender, owner } = made

const text = async () => (await fetch(`${world.operatorUrl}/metrics`)).text()

/** Samples by name and labels. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const lines = (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  )
}

/** Results of deliveries are counted a moment after they are in the database. */
async function scrapeUntil(sample: string, value: number): Promise<ReadonlyMap<string, number>> {
  for (let tries = 0; tries < 500; tries++) {
    const seen = await scrape()
    if (seen.get(sample) === value) return seen
    await sleep(10)
  }
  throw new Error(`${sample} did not become ${value}`)
}

test('the size of the database and the backlog are read soon after the start', async () => {
  for (let tries = 0; tries < 500; tries++) {
    const found = await scrape()
    if ((found.get('aex_database_size_bytes') ?? 0) > 1_000_000) {
      assert.equal(found.get('aex_partition_size_bytes{table="package_content",partition="default"}'), 0)
      assert.equal(found.get('aex_partition_size_bytes{table="package_content",partition="last"}'), 0)
      return
    }
    await sleep(10)
  }
  assert.fail('the size was not read')
})

test('a package is counted by state and mode, with its batches, acceptance time and deliveries', async () => {
  const before = await scrape()
  await made.endpoint()
  const { metadata } = await sendPackage(sender, owner)
  await sendReceipt(owner, metadata, 'received')
  await made.until((rows) => rows.length === 2 && allDelivered(rows), 'both delivered')
  const later = await scrapeUntil('aex_deliveries_total{result="delivered"}', 2)
  const added = (sample: string) => (later.get(sample) ?? 0) - (before.get(sample) ?? 0)
  assert.deepEqual(
    ['accepted', 'encrypted_available', 'received', 'opened', 'revoked'].map((state) => [
      state,
      added(`aex_package_states_total{state="${state}",mode="native"}`),
    ]),
    [
      ['accepted', 1],
      ['encrypted_available', 1],
      ['received', 1],
      ['opened', 0],
      ['revoked', 0],
    ],
  )
  assert.equal(added('aex_package_acceptance_seconds_count'), 1)
  assert.ok(added('aex_package_acceptance_seconds_sum') > 0)
  for (const queue of ['packages', 'policy_receipts', 'package_receipts']) {
    assert.equal(added(`aex_batch_size_count{queue="${queue}"}`), 1, queue)
    assert.equal(added(`aex_batch_size_sum{queue="${queue}"}`), 1, queue)
    assert.equal(later.get(`aex_write_queue_depth{queue="${queue}"}`), 0)
  }
  assert.equal(added('aex_delivery_attempts_total{outcome="delivered"}'), 2)
  assert.equal(added('aex_delivery_attempt_seconds_count'), 2)
  const connections = ['in_use', 'idle'].map(
    (state) => later.get(`aex_database_connections{pool="transactions",state="${state}"}`) ?? 0,
  )
  assert.ok(Math.max(...connections) > 0)
  assert.equal(later.get('aex_database_waiting{pool="transactions"}'), 0)
  // A ds_x state exists at 0, so that its first package is an increase.
  assert.equal(later.get('aex_package_states_total{state="transfer_started",mode="ds_x"}'), 0)
})

test('a repeated submission counts no second package', async () => {
  const draft = await draftPackage(sender, owner)
  const send = () => submitPackage(sender, draft, { idempotencyKey: 'twice' })
  await sender.post('/v1/policy-receipts', draft.receipt)
  assert.equal((await send()).status, 202)
  const sample = 'aex_package_states_total{state="accepted",mode="native"}'
  const before = (await scrape()).get(sample)
  assert.equal((await send()).status, 202)
  assert.equal((await scrape()).get(sample), before)
})

test('failed attempts are counted by cause, and a delivery that ends by its result', async () => {
  await made.until(allDelivered, 'all delivered')
  const before = await scrape()
  const sum = (seen: ReadonlyMap<string, number>, sample: string) => seen.get(sample) ?? 0
  receiver.reply = () => 404
  await made.event()
  const failed = 'aex_deliveries_total{result="failed"}'
  const failing = await scrapeUntil(failed, sum(before, failed) + 1)
  const cause = 'aex_delivery_failures_total{cause="status_4xx"}'
  assert.equal(sum(failing, cause) - sum(before, cause), 1)
  receiver.reply = () => 503
  await made.event()
  const retry = 'aex_delivery_attempts_total{outcome="retry"}'
  const last = await scrapeUntil(retry, sum(failing, retry) + 1)
  assert.equal(last.get('aex_delivery_failures_total{cause="status_5xx"}'), 1)
  const ended = [...last].filter(([name]) => name.startsWith('aex_deliveries_total'))
  assert.equal(
    ended.reduce((all, [, value]) => all + value, 0),
    sum(failing, failed) + sum(failing, 'aex_deliveries_total{result="delivered"}'),
  )
})

test('docs/metrics.md lists every metric of ours with its type and labels, and no other', async () => {
  const scraped = (await text()).split('\n')
  const actual = scraped
    .map((line) => /^# TYPE (aex_\w+) (\w+)/u.exec(line))
    .flatMap((found) => (found ? [{ name: found[1] ?? '', type: found[2] }] : []))
  const page = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| `(?<name>aex_\w+)`\s+\| (?<type>\w+)\s+\| (?<labels>[^|]*)\|/gmu)]
  const types = new Map(listed.map(({ groups }) => [groups?.['name'] ?? '', groups?.['type']]))
  for (const { name, type } of actual) assert.equal(types.get(name), type, name)
  // These exist only with the embedded database, a replica, AEX_WORKERS or tracing.
  const elsewhere = [
    'aex_database_disk_free_bytes',
    'aex_database_disk_size_bytes',
    'aex_replica_reads_total',
    'aex_trace_spans_total',
    'aex_workers',
    'aex_workers_unanswered',
  ]
  assert.deepEqual([...types.keys()].toSorted(), [...actual.map(({ name }) => name), ...elsewhere].toSorted())
  for (const { groups } of listed) {
    const labels = [...(groups?.['labels'] ?? '').matchAll(/`(\w+)`/gu)].map(([, label]) => label)
    const sample = scraped.find((line) => new RegExp(`^${groups?.['name']}(?:_count)?[ {]`, 'u').test(line))
    const shown = [...(sample?.matchAll(/(\w+)="/gu) ?? [])].map(([, label]) => label)
    if (sample !== undefined) assert.deepEqual(shown, labels, groups?.['name'])
  }
})
