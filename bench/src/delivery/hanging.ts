import { setTimeout as sleep } from 'node:timers/promises'
import { open } from '../exchange/postgres-server.ts'
import { sharedNow } from '../processes/shared-clock.ts'
import { percentiles } from '../statistics.ts'
import { HANGING_PATH, type DeliveryScene } from './delivery-scene.ts'
import { insertEvents } from '../rows/event-rows.ts'
import { untilRecorded } from './throughput.ts'

const ARRIVAL_LIMIT_MS = 20_000

export interface FirstAttempts {
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Stream {
  readonly milliseconds: number
  readonly deliveriesPerSecond: number
  /** Whether a tenth of the endpoints hangs. */
  readonly isHanging: boolean
}

/**
 * Sends a steady stream of events to all organizations. Measures the time from before the commit of an event until its
 * first attempt reaches the receiver, for healthy endpoints.
 */
export async function firstAttempts(scene: DeliveryScene, stream: Stream): Promise<FirstAttempts> {
  const { exchange, receiver, templates, nextEvent } = scene
  await using db = open(exchange.database, 8)
  const hanging = await hangingEndpoints(scene)
  await receiver.call('forget')
  await receiver.call('hang', stream.isHanging ? HANGING_PATH : undefined)
  const begun = new Map<string, number>()
  const inserts: Promise<void>[] = []
  const perEvent = templates[0]?.deliveries.length ?? 1
  const pauseMs = (perEvent * 1_000) / stream.deliveriesPerSecond
  const start = performance.now()
  for (let i = 0; i * pauseMs < stream.milliseconds; i++) {
    await sleep(Math.max(0, start + i * pauseMs - performance.now()))
    const template = templates[i % templates.length]
    if (!template) break
    const event = nextEvent(template, new Date())
    const at = sharedNow()
    for (const { delivery_id, webhook_endpoint_id } of event.deliveries) {
      if (!hanging.has(String(webhook_endpoint_id))) begun.set(String(delivery_id), at)
    }
    inserts.push(insertEvents(db, event))
  }
  await Promise.all(inserts)
  const waits = await waitsOf(scene, begun)
  await receiver.call('hang', undefined)
  await untilRecorded(exchange.database)
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(waits, [0.5, 0.99])
  return { p50Ms, p99Ms }
}

/** Deliveries to healthy endpoints must arrive; hanging ones are ignored. */
async function waitsOf({ receiver }: DeliveryScene, begun: ReadonlyMap<string, number>): Promise<number[]> {
  const waits = new Map<string, number>()
  for (let seen = begun.size; waits.size < begun.size; seen++) {
    const arrivals = await receiver.call('arrivals', seen, ARRIVAL_LIMIT_MS)
    for (const { deliveryId, at } of arrivals) {
      const from = begun.get(deliveryId)
      if (from !== undefined && !waits.has(deliveryId)) waits.set(deliveryId, at - from)
    }
    seen = arrivals.length
  }
  return [...waits.values()]
}

async function hangingEndpoints({ exchange }: DeliveryScene): Promise<Set<string>> {
  const rows = await exchange.world.sql<{ webhook_endpoint_id: string }[]>`
    select webhook_endpoint_id from webhook_endpoint where url like ${`%${HANGING_PATH}`}`
  return new Set(rows.map(({ webhook_endpoint_id }) => webhook_endpoint_id))
}
