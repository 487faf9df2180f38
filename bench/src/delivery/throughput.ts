import { setTimeout as sleep } from 'node:timers/promises'
import { open, type PostgresServer, type DatabaseTarget } from '../exchange/postgres-server.ts'
import { cpuMeter } from '../processes/cpu.ts'
import type { DeliveryScene } from './delivery-scene.ts'
import { insertEvents, together } from '../rows/event-rows.ts'

const ARRIVAL_LIMIT_MS = 120_000
const RECORDED_LIMIT_MS = 30_000
const POLL_MS = 5

export interface Throughput {
  readonly perSecond: number
  /** CPU time of a delivery: of whoever delivers, of PostgreSQL, of the receiver. */
  readonly workerMicroseconds: number
  readonly postgresMicroseconds: number
  readonly receiverMicroseconds: number
}

/** Events per organization, with 20 deliveries each. */
function backlog({ templates, nextEvent }: Pick<DeliveryScene, 'templates' | 'nextEvent'>, events: number) {
  const at = new Date()
  return together(
    Array.from({ length: events }, () => templates.map((template) => nextEvent(template, at))).flat(),
  )
}

/** Measures how real workers process a backlog, from its commit until the last result is stored. */
export async function workerThroughput(
  scene: DeliveryScene,
  postgres: PostgresServer,
  { pids, events }: { readonly pids: readonly number[]; readonly events: number },
): Promise<Throughput> {
  const { exchange, receiver } = scene
  await using db = open(exchange.database)
  const deliver = async (rows: ReturnType<typeof backlog>) => {
    await receiver.call('forget')
    await insertEvents(db, rows)
    const from = performance.now()
    await receiver.call('arrivals', rows.deliveries.length, ARRIVAL_LIMIT_MS)
    await untilRecorded(exchange.database)
    return performance.now() - from
  }
  // Connections to all endpoints are opened before the clock starts: they stay open while there is work.
  await deliver(backlog(scene, 2))
  const rows = backlog(scene, events)
  const count = cpuCounter([pids, [postgres.pid()], [receiver.pid]])
  return count(rows.deliveries.length, await deliver(rows))
}

/** The same for the loop, with the same endpoints and a separate database. */
export async function oneByOneThroughput(
  scene: DeliveryScene,
  postgres: PostgresServer,
  events: number,
): Promise<Throughput> {
  const { oneByOne, receiver } = scene
  await using db = open(scene.naiveDatabase)
  // The loop returns to each endpoint before its connection is closed.
  await insertEvents(db, backlog(scene, 1))
  await oneByOne.call('deliverAll')
  await insertEvents(db, backlog(scene, events))
  const count = cpuCounter([[oneByOne.pid], [postgres.pid()], [receiver.pid]])
  const { deliveries, milliseconds } = await oneByOne.call('deliverAll')
  return count(deliveries, milliseconds)
}

function cpuCounter(roots: readonly (readonly number[])[]) {
  const used = cpuMeter(roots)
  return (deliveries: number, milliseconds: number): Throughput => {
    const [worker = 0, database = 0, receiver = 0] = used().map((seconds) => (seconds * 1e6) / deliveries)
    return {
      perSecond: (deliveries * 1_000) / milliseconds,
      workerMicroseconds: worker,
      postgresMicroseconds: database,
      receiverMicroseconds: receiver,
    }
  }
}

/** The receiver has all deliveries; waits until their results are stored. */
export async function untilRecorded(database: DatabaseTarget): Promise<void> {
  await using db = open(database)
  for (const from = performance.now(); ; await sleep(POLL_MS)) {
    // Uses a small index; scanning all deliveries would disturb the measurement.
    const [row] = await db<{ pending: boolean }[]>`
      select exists (select from delivery where state = 'pending') as pending`
    if (!row?.pending) return
    if (performance.now() - from > RECORDED_LIMIT_MS) throw new Error('deliveries are still pending')
  }
}
