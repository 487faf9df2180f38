/** Sequential delivery: claim one row, sign, fetch, record, repeat. Started by the area `delivery`. */

import { generateKeyPair, signWebhook } from '@agent-exchange/crypto'
import type { DatabaseTarget } from '../exchange/postgres-server.ts'
import type postgres from 'postgres'
import { answerCalls } from '../processes/calls.ts'
import { plainDriver } from '../reference/plain-driver.ts'

const LEASE_SECONDS = 30
const REQUEST_LIMIT_MS = 10_000
const CONNECTIONS = 2

interface Claimed {
  readonly delivery_id: string
  readonly event_id: string
  readonly attempt: number
  readonly url: string
  readonly body: string
}

const { privateKey: key } = await generateKeyPair('signing')
let sql: postgres.Sql | undefined

async function claimOne(db: postgres.Sql): Promise<Claimed | undefined> {
  const [row] = await db<Claimed[]>`
    update delivery set attempt = attempt + 1, leased_until = now() + ${LEASE_SECONDS} * interval '1 second'
    from webhook_endpoint, notification
    where delivery_id = (
        select delivery_id from delivery
        where state = 'pending' and next_attempt_at <= now() and (leased_until is null or leased_until < now())
        order by next_attempt_at limit 1 for update skip locked)
      and webhook_endpoint.webhook_endpoint_id = delivery.webhook_endpoint_id
      and notification.notification_id = delivery.notification_id
    returning delivery_id, delivery.event_id, attempt, url, body`
  return row
}

async function deliverOne(db: postgres.Sql, claimed: Claimed): Promise<void> {
  const { delivery_id: deliveryId, event_id: eventId, attempt, url } = claimed
  const startedAt = new Date()
  const body = new TextEncoder().encode(claimed.body)
  const headers = await signWebhook(
    { url, body, deliveryId, eventId, attempt },
    { key, keyId: 'key_one_by_one', created: startedAt },
  )
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  })
  await response.arrayBuffer()
  const outcome = response.ok ? 'delivered' : 'failed'
  const details = JSON.stringify({ status: response.status, duration_ms: Date.now() - startedAt.getTime() })
  await db.begin(async (tx) => {
    await tx`
      insert into delivery_attempt (delivery_id, attempt, started_at, outcome, details)
      values (${deliveryId}, ${attempt}, ${startedAt}, ${outcome}, ${details})`
    await tx`
      update delivery set state = ${outcome}, leased_until = null, finished_at = now()
      where delivery_id = ${deliveryId}`
  })
}

const calls = {
  open(database: DatabaseTarget): void {
    sql = plainDriver(database, CONNECTIONS)
  },
  /** Delivers up to this many rows; returns their number and the duration. */
  async deliver(most: number): Promise<{ deliveries: number; milliseconds: number }> {
    if (!sql) throw new Error('no database was opened')
    const from = performance.now()
    let deliveries = 0
    for (; deliveries < most; deliveries++) {
      const claimed = await claimOne(sql)
      if (!claimed) break
      await deliverOne(sql, claimed)
    }
    return { deliveries, milliseconds: performance.now() - from }
  },
}

export type OneByOneCalls = typeof calls

answerCalls(calls)
