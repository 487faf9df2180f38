import { freePorts } from '@agent-exchange/testkit'
import { tableOf, type Area, type AreaContext, type AreaResult, type Ratio } from '../area.ts'
import { CLIENTS, marketOf } from '../exchange/market.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { packageMaker } from '../load/package-maker.ts'
import { startLoad } from '../load/load.ts'
import { startHelper } from '../processes/calls.ts'
import { exactly, inTurns, type Contender } from '../rounds.ts'
import { median } from '../statistics.ts'
import type { A2aCalls } from './a2a-main.ts'
import type { GraphileWorkerCalls } from './graphile-worker-main.ts'
import type { PgBossCalls } from './pg-boss-main.ts'
import { sendMessage } from './send-message.ts'
import { PEERS } from './versions.ts'

/** Alternatives that a user might choose, where they do the same work. */
export const peersArea: Area = {
  name: 'peers',
  what: 'pg-boss, graphile-worker and a2a-js with the same 12 KB on the same PostgreSQL',
  isLong: true,
  run,
}

const FULL = { rounds: exactly(5), milliseconds: 3_000 }
const QUICK = { rounds: exactly(2), milliseconds: 400 }
const MESSAGES = 64

/** An operation of a peer; returns its rate per second. */
interface Discipline extends Contender {
  /** The corresponding figure of ours. */
  readonly beside: 'accepted' | 'deliveries'
  readonly measure: (milliseconds: number) => Promise<number>
}

async function run({ quick, progress, bed: startBed, earlier }: AreaContext): Promise<AreaResult> {
  const { rounds, milliseconds } = quick ? QUICK : FULL
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  progress('starting pg-boss, graphile-worker and an A2A agent')
  const { order } = await marketOf(bed)
  const { body } = await (await packageMaker(order('sample')))()
  const payload = JSON.parse(String(body)) as object
  const disciplines = [...(await queues(bed, cleanup, payload)), await a2a(cleanup, payload)]
  const results = await inTurns(disciplines, {
    rounds,
    measure: async ({ measure }) => ({ perSecond: await measure(milliseconds) }),
    progress,
    show: ({ perSecond }) => `${Math.round(perSecond)} /s`,
    isWarm: true,
  })
  /** If ours was measured in the same run. */
  const ratioOf = ({ id, label, beside }: Discipline): Ratio[] => {
    const ours = earlier(`${beside}_per_second`)
    if (!ours) return []
    const theirs = median((results.get(id) ?? []).map(({ perSecond }) => perSecond))
    const value = median(ours) / theirs
    return [{ id: `${beside}_to_${id.slice('peer_'.length)}`, label: `${beside}/s to ${label}`, value }]
  }
  return {
    tables: [
      tableOf(
        `Peers, ${CLIENTS} clients, 12 KB, fsync on`,
        [{ member: 'perSecond', id: 'per_second', head: 'per second' }],
        disciplines.map(({ id, label }) => ({ id, label, list: results.get(id) ?? [] })),
      ),
    ],
    ratios: disciplines.flatMap(ratioOf),
    notes: [
      `${PEERS.pgBoss} makes a job durable, one statement and one commit each, called in process: no HTTP, no token, no ` +
        'signature, no check, no audit, no ordered stream, no idempotency key. Its worker fetches batches of 64 and calls ' +
        'an empty function: nothing is signed or sent.',
      `${PEERS.graphileWorker}: the same, and its worker fetches jobs one by one.`,
      `${PEERS.a2a} takes a message over HTTP and keeps it in memory: no token, no signature of the message, nothing durable, ` +
        'no delivery to anybody.',
    ],
  }
}

async function queues(bed: TestBed, cleanup: AsyncDisposableStack, payload: object): Promise<Discipline[]> {
  const boss = cleanup.use(startHelper<PgBossCalls>(new URL('pg-boss-main.ts', import.meta.url)))
  await boss.call('start', await bed.postgres.create('pg_boss'))
  cleanup.defer(() => boss.call('stop'))
  const module = new URL('graphile-worker-main.ts', import.meta.url)
  const graphile = cleanup.use(startHelper<GraphileWorkerCalls>(module))
  await graphile.call('start', urlOf(await bed.postgres.create('graphile')))
  cleanup.defer(() => graphile.call('stop'))
  return [
    ...queue('pg_boss', PEERS.pgBoss, {
      enqueue: (milliseconds) => boss.call('enqueue', payload, milliseconds, CLIENTS),
      work: () => boss.call('work'),
    }),
    ...queue('graphile_worker', PEERS.graphileWorker, {
      enqueue: (milliseconds) => graphile.call('enqueue', payload, milliseconds, CLIENTS),
      work: () => graphile.call('work'),
    }),
  ]
}

function queue(
  id: string,
  name: string,
  { enqueue, work }: { enqueue: Discipline['measure']; work: () => Promise<number> },
): Discipline[] {
  return [
    { id: `peer_${id}_enqueue`, label: `${name}, enqueue`, beside: 'accepted', measure: enqueue },
    {
      id: `peer_${id}_work`,
      label: `${name}, work off`,
      beside: 'deliveries',
      async measure(milliseconds) {
        await enqueue(milliseconds)
        return work()
      },
    },
  ]
}

async function a2a(cleanup: AsyncDisposableStack, payload: object): Promise<Discipline> {
  const agent = cleanup.use(startHelper<A2aCalls>(new URL('a2a-main.ts', import.meta.url)))
  const load = cleanup.use(startLoad())
  const [port = 0] = await freePorts(1)
  await agent.call('start', port)
  const target = { url: `http://127.0.0.1:${port}`, tokens: [] }
  const posts = Array.from({ length: MESSAGES }, (_, i) => ({
    sender: 0,
    body: new TextEncoder().encode(JSON.stringify(sendMessage(`message_${i}`, payload))),
  }))
  return {
    id: 'peer_a2a_send_message',
    label: `${PEERS.a2a}, SendMessage`,
    beside: 'accepted',
    async measure(measureMs) {
      await load.call('connect', target, CLIENTS)
      const source = { kind: 'posts', path: '/', posts } as const
      return (await load.call('run', { target, source, status: 200, rampMs: 100, measureMs })).perSecond
    },
  }
}
