import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { generateKeyPair } from '@agent-exchange/crypto'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import {
  draftPackage,
  submit,
  testDatabase,
  type Answer,
  type Organization,
  type RequestOptions,
} from '@agent-exchange/testkit'
import { type Database, identifier, openDatabase } from '@agent-exchange/database'
import { startCommitProxy, type CommitProxy } from './commit-proxy.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { killed } from '../shared/serve-process.ts'
import { signedStatements } from './statements.ts'
import type { Trial } from './trial.ts'

const KEY_REVOCATION = {
  invalid_from: '2026-03-02T08:00:00Z',
  reason_code: 'superseded',
  evidence_reference: 'ticket 4711',
}

type Mutation = readonly [name: string, send: (options: RequestOptions) => Promise<Answer>]

export const lostAnswers: Trial = {
  name: 'lost-answers',
  what: '[API-04] the confirmation of a commit is lost, then kill -9 or a closed connection: a retry gets the original response',
  async run(report) {
    await using database = await testDatabase()
    await using proxy = await startCommitProxy(database.url)
    await using cleanup = new AsyncDisposableStack()
    const sql = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'faults' })
    cleanup.defer(() => sql.end())
    await using exchange = await startExchange({ databaseUrl: proxy.url })
    const [seats, cars] = await Promise.all(['seats', 'cars'].map((name) => exchange.organization(name)))
    assert.ok(seats && cars)
    for (const ending of ['kill -9', 'cut'] as const) {
      const each: Mutation[] = await mutations(seats, cars)
      for (const [name, sendIt] of each) {
        const before = await rows(sql)
        const options = { idempotencyKey: randomUUID() }
        await loseAnswer(exchange, proxy, ending, () => sendIt(options))
        const after = await rows(sql)
        const first: Answer = await sendIt(options)
        const second: Answer = await sendIt(options)
        assert.ok(first.status < 300, `${name} after ${ending}: ${first.text}`)
        assert.equal(second.text, first.text)
        assert.equal(second.status, first.status)
        assert.notDeepEqual(after, before, `${name}: the lost request must have an effect`)
        assert.deepEqual(await rows(sql), after, `${name}: the retry must have none`)
        report.line(`${ending}: ${name} ${first.status}`)
      }
    }
  },
}

/** Swallows the confirmation of the request's commit, then kills the process or closes its connections. */
async function loseAnswer(
  exchange: Exchange,
  proxy: CommitProxy,
  ending: 'kill -9' | 'cut',
  request: () => Promise<Answer>,
): Promise<void> {
  const lost = proxy.loseNextCommit()
  const answer = request().catch(() => undefined)
  await lost
  if (ending === 'kill -9') await killed(exchange.current())
  proxy.cut()
  const response = await answer
  if (ending === 'kill -9') {
    assert.equal(response, undefined)
    await exchange.start()
    return
  }
  // It may have found its commit over another connection; it must not report an error of the caller.
  assert.ok(response && (response.status < 300 || response.status >= 500), response?.text)
}

/** Row counts of every table that a mutation writes to. Sequencer, reports and rate limits write to the others. */
async function rows(sql: Database): Promise<unknown> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not in ('assertion_use', 'operator_log', 'activity_minute', 'service_process', 'rate_bucket')
      and table_name not like 'log\\_%'
    order by 1`
  const counts = await Promise.all(
    tables.map(async ({ name }) => [
      name,
      (await sql`select count(*)::int as rows from ${identifier(name)}`)[0]?.['rows'],
    ]),
  )
  return Object.fromEntries(counts) as unknown
}

/** One repeatable request per mutation. */
async function mutations(seats: Organization, cars: Organization): Promise<Mutation[]> {
  const draft = await draftPackage(seats, cars)
  const sent = await draftPackage(seats, cars)
  const doomed = await draftPackage(seats, cars)
  for (const each of [sent, doomed]) assert.equal((await submit(seats, each)).status, 202)
  const answer = await draftPackage(cars, seats, {
    threadId: sent.metadata.thread_id,
    respondsTo: sent.metadata.package_id,
  })
  assert.equal((await cars.post('/v1/policy-receipts', answer.receipt)).status, 201)
  const page = await cars.get('/v1/notifications')
  const notification = (page.body['items'] as NotificationEnvelope[]).at(-1)
  assert.ok(notification)
  const { notification_id, event_id, sequence, occurred_at } = notification
  const stored = {
    event_id,
    disposition: 'stored',
    stored_at: occurred_at,
    last_contiguous_sequence: sequence,
  }
  const key = await newKey()
  const made = await signedStatements({ ...sent, to: cars }, { ...doomed, from: seats })
  const { package_id: sentId } = sent.metadata
  return [
    ['registerAgentKey', (options) => seats.post(`/v1/agents/${seats.agentId}/keys`, key, options)],
    ['createPolicyReceipt', (options) => seats.post('/v1/policy-receipts', draft.receipt, options)],
    ['createPackageTransfer', (options) => seats.post('/v1/packages', draft.body, options)],
    [
      'createPackageReceipt',
      (options) => cars.post(`/v1/packages/${sentId}/receipts`, made.receipt, options),
    ],
    [
      'createPackageResponse',
      (options) => cars.post(`/v1/packages/${sentId}/responses`, answer.body, options),
    ],
    [
      'revokePackage',
      (options) => seats.post(`/v1/packages/${doomed.metadata.package_id}/revoke`, made.revocation, options),
    ],
    [
      'acknowledgeNotification',
      (options) => cars.post(`/v1/notifications/${notification_id}/ack`, stored, options),
    ],
    [
      'revokeAgentKey',
      (options) =>
        seats.post(`/v1/agents/${seats.agentId}/keys/${key.key_id}/revoke`, KEY_REVOCATION, options),
    ],
  ]
}

async function newKey() {
  const { publicKey } = await generateKeyPair('signing')
  const valid_from = '2026-01-01T00:00:00Z'
  return {
    key_id: `sig_${randomUUID()}`,
    use: 'signing',
    format: 'jwk',
    public_key: publicKey.jwk,
    valid_from,
  }
}
