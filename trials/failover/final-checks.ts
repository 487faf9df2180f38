import assert from 'node:assert/strict'
import type { Organization, WebhookReceiver } from '@agent-exchange/testkit'
import { until } from '@agent-exchange/testkit'
import type { Exchange } from '../shared/exchange.ts'
import { checkAnswered, checkAttempts, checkWhole } from '../shared/ledger-checks.ts'
import type { Ledger } from '../shared/ledger.ts'
import { isPublished, statusWhen } from '../log/log-under-trial.ts'
import type { CheckpointWatch } from './checkpoint-watch.ts'

/** The backoff before a third attempt, for a delivery that two faults interrupted. */
const DELIVERED_LIMIT_MS = 180_000

/** Nothing that was acknowledged is lost or doubled. Returns lines that say what was checked. */
export async function checkLedger(
  exchange: Exchange,
  ledger: Ledger,
  parties: readonly Organization[],
): Promise<string[]> {
  const unanswered = ledger.filter(({ answer }) => answer === undefined)
  assert.equal(unanswered.length, 0, 'packages that no retry got through')
  const internal = ledger.flatMap(({ failures }) => failures).filter((failure) => /^5(?!03)/u.test(failure))
  assert.deepEqual([...new Set(internal)], [], 'a fault of the database must be 503')
  const stored = await checkAnswered(exchange, ledger)
  await checkAttempts(ledger)
  const { streams, entries } = await checkWhole(exchange, ledger, parties)
  return [
    `${stored} acknowledged packages: 0 lost, 0 doubled; a retry of each got the same bytes`,
    `${streams} streams without a gap, ${entries} evidence entries in unbroken chains`,
  ]
}

/** Every event of an organization with an endpoint reached that endpoint. */
export async function checkWebhooks(
  { sql }: Exchange,
  receiver: WebhookReceiver,
  receiving: readonly Organization[],
): Promise<string> {
  const ids = receiving.map(({ organizationId }) => organizationId)
  const pending = async () => {
    const [row] = await sql<{ pending: number }[]>`
      select count(*)::integer as pending from delivery where state = 'pending'`
    return row?.pending
  }
  await until('no delivery is pending', async () => (await pending()) === 0, {
    limitMs: DELIVERED_LIMIT_MS,
    pollMs: 200,
  })
  const states = await sql<{ state: string }[]>`select distinct state from delivery`
  assert.deepEqual([...states], [{ state: 'delivered' }])
  const events = await sql<{ event_id: string }[]>`
    select event_id from notification where organization_id = any(${ids})`
  const arrived = new Set(receiver.received.map(({ eventId }) => eventId))
  const lost = events.filter(({ event_id }) => !arrived.has(event_id))
  assert.equal(lost.length, 0, 'events that never reached their endpoint')
  return `${events.length} webhooks: 0 lost; ${receiver.received.length} requests at the receiver`
}

/** Everything is in the log, and the log continues every checkpoint that a client saw. */
export async function checkLog(exchange: Exchange, checkpoints: CheckpointWatch): Promise<string> {
  const { size } = await statusWhen(exchange, isPublished)
  return `${size} leaves in the log, ${await checkpoints.verify()} checkpoints seen: no fork`
}
