import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  sendPackage,
  startReceiver,
  testDatabase,
  type Organization,
  type WebhookReceiver,
} from '@agent-exchange/testkit'
import { TOTAL_TIMEOUT_MS } from '../../packages/service/src/webhooks/worker/webhook-limits.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { killed } from '../shared/serve-process.ts'
import type { Report, Trial } from './trial.ts'

const ENDPOINTS = 6
/** Upper limit; sending stops at the last kill. */
const MAXIMUM_PACKAGES = 300
const BETWEEN_PACKAGES_MS = 100
const KILLS = { full: 10, quick: 4 }
const LAST_ATTEMPTS = 8
const BETWEEN_KILLS_MS = 700
/** Ends before most second attempts, because a delivery that is lost twice waits for minutes. */
const KILLING_LIMIT_MS = 25_000
/** A slow receiver makes it likely that a kill hits a request in flight. */
const ANSWER_AFTER_MS = 400
const HANGING_MS = 60_000
/** From a kill to the last delivery: the backoff before attempt 2, its jitter, and the detection time. */
const RECOVERED_LIMIT_SECONDS = 35
const MEASURED_AFTER_MS = 3_000
/** The backoff before attempt 3 with its jitter, for a delivery that was lost twice. */
const SETTLED_LIMIT_MS = (120 + 12 + 30) * 1_000
/** Maximum lateness of a delivery: one attempt plus the detection time of a dead worker. */
const LATE_SECONDS = TOTAL_TIMEOUT_MS / 1_000 + 5
const POLL_MS = 100

export const webhookKill: Trial = {
  name: 'webhook-kill',
  what: '[EVT-03][EVT-07][EVT-08][O-44] kill -9 of two delivery workers: every event arrives, no attempt is repeated, there is no eighth attempt, no delivery is stuck; deliveries of a killed worker arrive within 35 seconds',
  async run(report) {
    await using database = await testDatabase()
    await using receiver = await startReceiver({ reply: unsteady })
    const folder = mkdtempSync(join(tmpdir(), 'aex-webhook-'))
    const ca = join(folder, 'ca.pem')
    writeFileSync(ca, receiver.authority.certificate)
    try {
      const env = { AEX_WEBHOOK_CA: ca, AEX_WEBHOOK_ALLOW_PRIVATE: 'true' }
      await using api = await startExchange({ databaseUrl: database.url, env: { ...env, AEX_ROLE: 'api' } })
      const worker = () => startExchange({ beside: api, env: { ...env, AEX_ROLE: 'worker' } })
      await using one = await worker()
      await using two = await worker()
      await runWith({ api, workers: [one, two], receiver, report })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
}

interface Scene {
  readonly api: Exchange
  readonly workers: readonly Exchange[]
  readonly receiver: WebhookReceiver
  readonly report: Report
}

/** Accepts most webhooks after a delay; answers every tenth first attempt with 503. */
const unsteady: WebhookReceiver['reply'] = (webhook, response) => {
  const status = webhook.attempt === 1 && webhook.deliveryId.endsWith('7') ? 503 : 204
  const wait = webhook.path.includes('last') ? HANGING_MS : ANSWER_AFTER_MS
  setTimeout(() => response.writeHead(status).end(), wait).unref()
}

async function runWith(scene: Scene): Promise<void> {
  const { api, workers, receiver, report } = scene
  const [from, to] = await Promise.all([api.organization('seats'), api.organization('cars')])
  for (let i = 0; i < ENDPOINTS; i++) await register(to, `${receiver.url}/${i}`)
  const first = await recoverFromOneKill(scene, from, to)
  const over = new AbortController()
  const [kills, packages] = await Promise.all([
    killRepeatedly(scene).finally(() => over.abort()),
    send(from, to, over.signal),
  ])
  report.line(`${packages} packages sent while workers were killed ${kills} times`)
  const last = await cutLastAttempts(scene, to)
  await Promise.all(workers.map((worker) => worker.start()))
  const at = performance.now()
  await settled(scene)
  report.line(
    `no delivery was pending ${((performance.now() - at) / 1_000).toFixed(0)} s after the last kill`,
  )
  await check(scene, { events: first + packages, last })
}

async function register(owner: Organization, url: string): Promise<string> {
  const answer = await owner.post('/v1/webhook-endpoints', { url, event_types: [] })
  assert.equal(answer.status, 201, answer.text)
  return String(answer.body['webhook_endpoint_id'])
}

async function send(from: Organization, to: Organization, over: AbortSignal): Promise<number> {
  let sent = 0
  for (; sent < MAXIMUM_PACKAGES && !over.aborted; sent++) {
    await sendPackage(from, to)
    await sleep(BETWEEN_PACKAGES_MS)
  }
  return sent
}

/** Kills one of two workers under load and measures the time to the last delivery. */
async function recoverFromOneKill(scene: Scene, from: Organization, to: Organization): Promise<number> {
  const { workers, report } = scene
  const [victim] = workers
  assert.ok(victim)
  const over = new AbortController()
  const sending = send(from, to, over.signal)
  await sleep(MEASURED_AFTER_MS)
  await killed(victim.current())
  const at = performance.now()
  over.abort()
  const sent = await sending
  await settled(scene)
  const seconds = (performance.now() - at) / 1_000
  report.line(`${seconds.toFixed(1)} s from the kill of a worker to the last delivery`)
  assert.ok(seconds <= RECOVERED_LIMIT_SECONDS, `at most ${RECOVERED_LIMIT_SECONDS} s`)
  await victim.start()
  return sent
}

async function killRepeatedly({ workers, report }: Scene): Promise<number> {
  const kills = report.quick ? KILLS.quick : KILLS.full
  const from = performance.now()
  for (let i = 0; i < kills; i++) {
    if (performance.now() - from > KILLING_LIMIT_MS) return i
    await sleep(BETWEEN_KILLS_MS * (0.5 + Math.random()))
    const worker = workers[i % workers.length]
    if (!worker) continue
    await killed(worker.current())
    await worker.start()
  }
  return kills
}

/** Kills both workers during seventh attempts. */
async function cutLastAttempts({ api, workers, receiver, report }: Scene, to: Organization): Promise<string> {
  const endpointId = await register(to, `${receiver.url}/last`)
  // Lifts the pacing of a new endpoint (O-45).
  await api.sql`update webhook_endpoint set answered_at = now() where webhook_endpoint_id = ${endpointId}`
  await api.sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, attempt, next_attempt_at, created_at)
    select 'dlv_last_' || number, ${endpointId}, organization_id, package_id, notification_id, event_id, 'pending', 6,
      now(), now()
    from (select * from notification where organization_id = ${to.organizationId} limit 1) as any_of_them,
      generate_series(1, ${LAST_ATTEMPTS}::integer) as number`
  await api.sql`select pg_notify('aex_delivery', ${endpointId})`
  const arrived = () => receiver.received.filter(({ path }) => path.includes('last')).length
  for (let waited = 0; arrived() === 0 && waited < 10_000; waited += 20) await sleep(20)
  assert.ok(arrived() > 0, 'a seventh attempt must be in flight')
  await Promise.all(workers.map((worker) => killed(worker.current())))
  report.line(`${arrived()} seventh attempts were cut off by killing both workers`)
  // Removes those that were not claimed before the kill.
  await api.sql`delete from delivery where delivery_id like 'dlv_last_%' and attempt = 6`
  return endpointId
}

async function settled({ api }: Scene): Promise<void> {
  const from = performance.now()
  for (;;) {
    const [row] = await api.sql<{ pending: number; late: number }[]>`
      select count(*)::integer as pending,
        (count(*) filter (where next_attempt_at < now() - ${LATE_SECONDS} * interval '1 second'))::integer as late
      from delivery where state = 'pending'`
    if (row?.pending === 0) break
    assert.equal(row?.late, 0, 'no delivery is stuck')
    assert.ok(performance.now() - from < SETTLED_LIMIT_MS, `${row.pending} deliveries are still pending`)
    await sleep(POLL_MS)
  }
}

interface Row {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly event_id: string
  readonly state: string
  readonly attempt: number
  readonly recorded: number
  readonly lost: number
}

async function check(
  { api, receiver, report }: Scene,
  expected: { events: number; last: string },
): Promise<void> {
  const rows = await api.sql<Row[]>`
    select delivery_id, webhook_endpoint_id, event_id, state, attempt,
      (select count(*)::integer from delivery_attempt where delivery_attempt.delivery_id = delivery.delivery_id)
        as recorded,
      (select count(*)::integer from delivery_attempt where delivery_attempt.delivery_id = delivery.delivery_id
        and details::json ->> 'error_class' = 'lost') as lost
    from delivery`
  const sent = Map.groupBy(receiver.received, ({ deliveryId }) => deliveryId)
  for (const row of rows) {
    const attempts = (sent.get(row.delivery_id) ?? []).map(({ attempt }) => attempt)
    const about = `${row.delivery_id}: ${JSON.stringify({ ...row, attempts })}`
    assert.ok(row.attempt <= 7, about)
    assert.equal(new Set(attempts).size, attempts.length, `an attempt was made twice, ${about}`)
    assert.ok(
      attempts.every((attempt) => attempt <= row.attempt),
      about,
    )
    if (row.webhook_endpoint_id === expected.last) {
      assert.deepEqual([row.state, row.attempt, row.recorded, row.lost], ['dead', 7, 1, 1], about)
    } else {
      assert.deepEqual([row.state, row.recorded], ['delivered', row.attempt], about)
      assert.ok(attempts.length > 0, about)
    }
  }
  const arrivals = new Set(
    receiver.received
      .filter(({ path }) => !path.includes('last'))
      .map(({ path, eventId }) => `${path} ${eventId}`),
  )
  assert.equal(arrivals.size, expected.events * ENDPOINTS, 'every event reached every endpoint')
  const alerts = await api.sql`select from alert where webhook_endpoint_id = ${expected.last}`
  const dead = rows.filter(({ state }) => state === 'dead')
  assert.ok(dead.length > 0)
  assert.equal(alerts.length, dead.length, 'each dead letter must have an alert')
  const lost = rows.reduce((sum, row) => sum + row.lost, 0)
  assert.ok(lost > dead.length, 'kills must have hit requests in flight')
  report.line(
    `${rows.length} deliveries, ${receiver.received.length} requests, ${lost} attempts lost, ${dead.length} dead`,
  )
}
