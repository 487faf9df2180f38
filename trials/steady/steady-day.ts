import { setTimeout as sleep } from 'node:timers/promises'
import type { DeploymentProfile } from '@agent-exchange/protocol'
import { draftPackage, submitPackage, type DeliveryWorld, type PackageDraft } from '@agent-exchange/testkit'
import type { Database } from '@agent-exchange/database'
import { DAY_SECONDS } from '@agent-exchange/server/clock'
import { maintainKeys } from '../../packages/service/src/webhooks/endpoints/maintain-keys.ts'
import {
  listPartitions,
  PARTITIONED_TABLES,
} from '../../packages/service/src/features/retention/partitioned-tables.ts'
import { makePartitions } from '../../packages/service/src/features/retention/make-partitions.ts'
import { removeExpired } from '../../packages/service/src/features/retention/retention.ts'
import type { WebhookKeys } from '../../packages/service/src/platform-keys/webhook-keys.ts'
import { stolenTimeMeter } from './stolen-time.ts'

export interface SteadyScene {
  readonly exchange: DeliveryWorld
  readonly db: Database
  readonly profile: DeploymentProfile
  readonly webhookKeys: WebhookKeys
  /** The first package of each day. */
  readonly sent: PackageDraft['metadata'][]
  /** Events whose webhooks arrived. */
  readonly arrived: Set<string>
}

/** What was measured in one simulated day. */
export interface Day {
  readonly number: number
  readonly sent: number
  /** Webhooks that arrived for the first time. */
  readonly arrived: number
  /** Milliseconds from the request that submits a package to its answer. */
  readonly p50: number
  readonly p99: number
  /** Share of the CPU that the host of a virtual machine took away. */
  readonly stolen: number
  /** Bytes of the tables whose rows retention removes, and of all others. */
  readonly limitedBytes: number
  readonly evidenceBytes: number
  readonly partitions: number
  readonly dropped: number
}

const ARRIVAL_LIMIT_MS = 15_000

const LIMITED_TABLES = [
  'package_content',
  'notification',
  'delivery',
  'delivery_attempt',
  'idempotency_record',
]

/** Load for one day while retention runs; then the clock moves to the next day. */
export async function runDay(
  scene: SteadyScene,
  { number, rate, seconds }: { number: number; rate: number; seconds: number },
): Promise<Day> {
  const { exchange, db } = scene
  const arrivedBefore = scene.arrived.size
  const { clock } = exchange.world
  const latencies: number[] = []
  const stolen = stolenTimeMeter()
  const started = performance.now()
  const upkeep = maintain(scene, clock.now())
  const underWay: Promise<void>[] = []
  for (let sent = 0; sent < rate * seconds; sent++) {
    const wait = started + (sent * 1_000) / rate - performance.now()
    if (wait > 0) await sleep(wait)
    underWay.push(send(scene, latencies, sent === 0))
  }
  await Promise.all(underWay)
  const dropped = await upkeep
  noteArrivals(scene)
  const sizes = await readSizes(db)
  const lists = await Promise.all(PARTITIONED_TABLES.map((table) => listPartitions(db, table)))
  clock.advance(DAY_SECONDS - (performance.now() - started) / 1_000)
  latencies.sort((left, right) => left - right)
  const at = (share: number) => latencies[Math.ceil(share * latencies.length) - 1] ?? Number.NaN
  return {
    number,
    sent: latencies.length,
    arrived: scene.arrived.size - arrivedBefore,
    p50: at(0.5),
    p99: at(0.99),
    stolen: stolen(),
    ...sizes,
    partitions: lists.flat().length,
    dropped,
  }
}

function noteArrivals({ exchange, arrived }: SteadyScene): void {
  for (const { eventId } of exchange.receiver.received.splice(0)) arrived.add(eventId)
}

/** Waits for webhooks that were under way when the last day ended. */
export async function awaitArrivals(scene: SteadyScene, count: number): Promise<void> {
  const until = performance.now() + ARRIVAL_LIMIT_MS
  for (;;) {
    noteArrivals(scene)
    if (scene.arrived.size >= count || performance.now() > until) return
    await sleep(50)
  }
}

/** What the service does every minute and every hour. */
export async function maintain(
  { db, profile, webhookKeys }: Pick<SteadyScene, 'db' | 'profile' | 'webhookKeys'>,
  now: string,
): Promise<number> {
  await maintainKeys(db, webhookKeys, now)
  await makePartitions(db, now)
  const removed = await removeExpired(db, profile, now)
  return removed['partitions'] ?? 0
}

async function send({ exchange, sent }: SteadyScene, latencies: number[], isFirst: boolean): Promise<void> {
  const { sender, owner } = exchange
  const draft = await draftPackage(sender, owner)
  const receipt = await sender.post('/v1/policy-receipts', draft.receipt)
  if (receipt.status !== 201) throw new Error(receipt.text)
  const started = performance.now()
  const answer = await submitPackage(sender, draft)
  latencies.push(performance.now() - started)
  if (answer.status !== 202) throw new Error(answer.text)
  if (isFirst) sent.push(draft.metadata)
}

async function readSizes(db: Database): Promise<{ limitedBytes: number; evidenceBytes: number }> {
  const [row] = await db<{ limited: number; total: number }[]>`
    select pg_database_size(current_database()) as total, (
      select sum(pg_total_relation_size(relid))::bigint
      from unnest(${LIMITED_TABLES}::text[]) as name, lateral (
        -- A table without partitions has an empty partition tree.
        select relid from pg_partition_tree(name::regclass) union select name::regclass) as part) as limited`
  if (!row) throw new Error('sizes are always one row')
  return { limitedBytes: row.limited, evidenceBytes: row.total - row.limited }
}
