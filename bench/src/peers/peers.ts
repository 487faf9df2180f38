import { freePorts } from '@agent-exchange/testkit'
import type { Area, AreaContext, AreaResult, Figure, Ratio } from '../area.ts'
import { sealedEnvelope } from '../samples/sealed-envelope.ts'
import { CLIENTS } from '../exchange/market.ts'
import type { TestBed } from '../exchange/test-bed.ts'
import { figureOf } from '../figures.ts'
import { median } from '../statistics.ts'
import { urlOf } from '../exchange/postgres-server.ts'
import { startLoad } from '../load/load.ts'
import { startHelper } from '../processes/calls.ts'
import type { A2aCalls } from './a2a-main.ts'
import type { GraphileWorkerCalls } from './graphile-worker-main.ts'
import type { PgBossCalls } from './pg-boss-main.ts'
import { sendMessage } from './send-message.ts'

/** Alternatives that a user might choose, where they do the same work. */
export const peersArea: Area = {
  name: 'peers',
  what: 'pg-boss, graphile-worker and a2a-js with the same 12 KB on the same PostgreSQL',
  isLong: true,
  run,
}

const FULL = { repetitions: 5, milliseconds: 3_000 }
const QUICK = { repetitions: 2, milliseconds: 400 }
const MESSAGES = 64

/** An operation of a peer; returns its rate per second. */
interface Discipline {
  readonly id: string
  readonly label: string
  /** The corresponding figure of ours. */
  readonly beside: 'accepted_per_second' | 'deliveries_per_second'
  readonly measure: (milliseconds: number) => Promise<number>
}

async function run({ quick, progress, bed: startBed, earlier }: AreaContext): Promise<AreaResult> {
  const { repetitions, milliseconds } = quick ? QUICK : FULL
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  progress('starting pg-boss, graphile-worker and an A2A agent')

  const payload = await sealedEnvelope()
  const disciplines = [
    ...(await pgBoss(bed, cleanup, payload)),
    ...(await graphileWorker(bed, cleanup, payload)),
    await a2a(cleanup, payload),
  ]
  const rates = new Map<Discipline, number[]>(disciplines.map((each) => [each, []]))
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const discipline of disciplines) {
      const rate = await discipline.measure(milliseconds)
      rates.get(discipline)?.push(rate)
      progress(`${repetition}/${repetitions} ${discipline.label}: ${Math.round(rate)} /s`)
    }
  }
  return {
    title: `Peers, ${CLIENTS} clients, 12 KB, fsync on`,
    plot: 'Peers, a second',
    figures: [...rates].map(([discipline, list]) => peerFigure(discipline, list)),
    ratios: [...rates].flatMap(([discipline, list]) => peerRatio(discipline, list, earlier)),
    notes: [
      'pg-boss and graphile-worker make a job durable, one statement and one commit each, called in process: no HTTP, ' +
        'no token, no signature, no check, no audit, no ordered stream, no idempotency key. Their workers call an ' +
        'empty function: nothing is signed or sent.',
      'a2a-js takes a message over HTTP and keeps it in memory: no token, no signature of the message, nothing durable.',
    ],
  }
}

async function pgBoss(bed: TestBed, cleanup: AsyncDisposableStack, payload: object): Promise<Discipline[]> {
  const helper = cleanup.use(startHelper<PgBossCalls>(new URL('pg-boss-main.ts', import.meta.url)))
  await helper.call('start', await bed.postgres.create('pg_boss'))
  cleanup.defer(() => helper.call('stop'))
  return queue('pg_boss', 'pg-boss', {
    enqueue: (milliseconds) => helper.call('enqueue', payload, milliseconds, CLIENTS),
    work: () => helper.call('work'),
  })
}

async function graphileWorker(
  bed: TestBed,
  cleanup: AsyncDisposableStack,
  payload: object,
): Promise<Discipline[]> {
  const module = new URL('graphile-worker-main.ts', import.meta.url)
  const helper = cleanup.use(startHelper<GraphileWorkerCalls>(module))
  await helper.call('start', urlOf(await bed.postgres.create('graphile')))
  cleanup.defer(() => helper.call('stop'))
  return queue('graphile_worker', 'graphile-worker', {
    enqueue: (milliseconds) => helper.call('enqueue', payload, milliseconds, CLIENTS),
    work: () => helper.call('work'),
  })
}

function queue(
  id: string,
  name: string,
  { enqueue, work }: { enqueue: Discipline['measure']; work: () => Promise<number> },
): Discipline[] {
  return [
    { id: `${id}_enqueue`, label: `${name}, enqueue`, beside: 'accepted_per_second', measure: enqueue },
    { id: `${id}_work`, label: `${name}, work off`, beside: 'deliveries_per_second', measure: work },
  ]
}

async function a2a(cleanup: AsyncDisposableStack, payload: object): Promise<Discipline> {
  const agent = cleanup.use(startHelper<A2aCalls>(new URL('a2a-main.ts', import.meta.url)))
  const load = cleanup.use(startLoad())
  const [port = 0] = await freePorts(1)
  await agent.call('start', port)
  const target = { url: `http://127.0.0.1:${port}`, tokens: [] }
  const bodies = Array.from({ length: MESSAGES }, (_, i) =>
    new TextEncoder().encode(JSON.stringify(sendMessage(`message_${i}`, payload))),
  )
  return {
    id: 'a2a_send_message',
    label: 'a2a-js, SendMessage',
    beside: 'accepted_per_second',
    async measure(measureMs) {
      await load.call('connect', target, CLIENTS)
      const source = { kind: 'posts', path: '/', bodies } as const
      return (await load.call('run', { target, source, status: 200, rampMs: 100, measureMs })).perSecond
    },
  }
}

function peerFigure({ id, label }: Discipline, rates: readonly number[]): Figure {
  return figureOf(`peer_${id}_per_second`, label, 'per_second', rates, { isOther: true })
}

/** If ours was measured in the same run. */
function peerRatio(
  { id, label, beside }: Discipline,
  rates: readonly number[],
  earlier: AreaContext['earlier'],
): Ratio[] {
  const ours = earlier(beside)
  if (ours === undefined) return []
  const [what, short] =
    beside === 'accepted_per_second' ? ['accepted packages', 'accepted'] : ['deliveries', 'deliveries']
  return [{ id: `${short}_to_${id}`, label: `${what}/s to ${label}`, value: ours / median(rates) }]
}
