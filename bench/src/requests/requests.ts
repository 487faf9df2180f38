import { draftPackage, freshId, submit, type Organization } from '@agent-exchange/testkit'
import { tableOf, type Area, type AreaContext, type AreaResult, type MemberColumn } from '../area.ts'
import { CLIENTS, marketOf, type Market } from '../exchange/market.ts'
import { toParty } from '../exchange/parties.ts'
import type { Source } from '../load/load-main.ts'
import type { Outcome } from '../load/loops.ts'
import { cpuMeter } from '../processes/cpu.ts'
import { exactly, inTurns, type Contender } from '../rounds.ts'

/** The other frequent operations. */
export const requestsArea: Area = {
  name: 'requests',
  what: 'policy receipts, getPackage, getThread and listNotifications a second',
  run,
}

const FULL = { rounds: exactly(5), rampMs: 300, measureMs: 3_000 }
const QUICK = { rounds: exactly(2), rampMs: 100, measureMs: 400 }
/** For a rate that is not known yet. */
const RECEIPTS_PER_SECOND = 3_000
const PAGE = 100
const THREAD_PACKAGES = 10
const READERS = 8

interface Kind extends Contender {
  readonly status: number
  readonly source: Source
}

interface Measured extends Outcome {
  readonly cpuMicroseconds: number
}

const COLUMNS: readonly MemberColumn<Measured>[] = [
  { member: 'perSecond', id: 'per_second', head: 'per second' },
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms' },
  { member: 'cpuMicroseconds', id: 'cpu_us', head: 'service µs' },
]

async function run({ quick, workers, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const { rounds, ...span } = quick ? QUICK : FULL
  const bed = await startBed()
  progress('making organizations and packages')
  const market = await marketOf(bed)
  const kinds = await kindsOf(market)
  const results = await inTurns(kinds, {
    rounds,
    measure: (kind) => measure(market, kind, span),
    progress,
    show: ({ perSecond }) => `${Math.round(perSecond)} /s`,
  })
  const processes = workers === 1 ? 'one API process' : `${workers} API processes`
  return {
    tables: [
      tableOf(
        `Other operations, ${CLIENTS} clients, ${processes}`,
        COLUMNS,
        kinds.map(({ id, label }) => ({ id, label, list: results.get(id) ?? [] })),
      ),
    ],
    notes: [
      `Reads are of packages in threads of ${THREAD_PACKAGES}, by their senders; polling asks for the first ${PAGE} ` +
        'notifications of longer streams.',
    ],
  }
}

type Span = Omit<typeof FULL, 'rounds'>

async function measure(
  { load, tokens, exchange }: Market,
  { source, status }: Kind,
  span: Span,
): Promise<Measured> {
  const { url, pid } = exchange.service
  const target = { url, tokens: await tokens.fresh() }
  if (source.kind === 'stock') {
    const seconds = (span.rampMs + span.measureMs) / 1_000
    await load.call('fill', source.stock, Math.ceil(RECEIPTS_PER_SECOND * seconds), target)
  }
  await load.call('connect', target, CLIENTS)
  const used = cpuMeter([[pid]])
  const outcome = await load.call('run', { ...span, target, source, status })
  return { ...outcome, cpuMicroseconds: ((used()[0] ?? 0) * 1e6) / outcome.requests }
}

const read = (id: string, label: string, source: Source): Kind => ({ id, label, status: 200, source })

async function kindsOf(market: Market): Promise<Kind[]> {
  const { load, order, senders, receivers } = market
  await load.call('createStock', order('receipts', { kind: 'receipts' }))
  const readers = senders.slice(0, READERS)
  await fillStreams(market, readers)
  const threads = await Promise.all(readers.map((reader, i) => makeThread(reader, receivers[i])))
  const reads = (path: (thread: (typeof threads)[number]) => string): Source => ({
    kind: 'reads',
    reads: threads.map((thread, sender) => ({ path: path(thread), sender })),
  })
  return [
    {
      id: 'policy_receipts',
      label: 'createPolicyReceipt',
      status: 201,
      source: { kind: 'stock', stock: 'receipts' },
    },
    read(
      'get_package',
      'getPackage',
      reads(({ packageId }) => `/v1/packages/${packageId}`),
    ),
    read(
      'get_thread',
      `getThread, ${THREAD_PACKAGES} packages`,
      reads(({ threadId }) => `/v1/threads/${threadId}`),
    ),
    read(
      'list_notifications',
      `listNotifications, ${PAGE} a page`,
      reads(() => `/v1/notifications?limit=${PAGE}`),
    ),
  ]
}

/** More notifications for each reader than a page holds. */
async function fillStreams({ load, order, tokens, exchange }: Market, readers: readonly Organization[]) {
  const target = { url: exchange.service.url, tokens: await tokens.fresh() }
  const most = 2 * PAGE * readers.length
  const own = { senders: readers.map(toParty), needsReceipts: true }
  await load.call('createStock', order('readers', own))
  await load.call('fill', 'readers', most, target)
  await load.call('connect', target, CLIENTS)
  const source = { kind: 'stock', stock: 'readers', most } as const
  await load.call('run', { target, source, status: 202, rampMs: 0, measureMs: 60_000 })
}

async function makeThread(from: Organization, to: Organization | undefined) {
  if (!to) throw new Error('nobody receives')
  const threadId = freshId('thread')
  let packageId = ''
  for (let i = 0; i < THREAD_PACKAGES; i++) {
    const draft = await draftPackage(from, to, { threadId })
    const answer = await submit(from, draft)
    if (answer.status !== 202) throw new Error(answer.text)
    packageId = draft.metadata.package_id
  }
  return { threadId, packageId }
}
