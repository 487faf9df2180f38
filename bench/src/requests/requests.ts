import type { Area, AreaContext, AreaResult, Figure } from '../area.ts'
import { CLIENTS, marketOf, type Market } from '../exchange/market.ts'
import { toParty } from '../exchange/parties.ts'
import type { Source } from '../load/load-main.ts'
import type { Outcome } from '../load/outcome.ts'
import { cpuSeconds } from '../processes/cpu.ts'
import { figureOf } from '../figures.ts'
import { prepareReads } from './prepare-reads.ts'

/** The other frequent operations. */
export const requestsArea: Area = {
  name: 'requests',
  what: 'policy receipts, getPackage, getThread and listNotifications a second',
  run,
}

const FULL = { repetitions: 5, rampMs: 300, measureMs: 3_000 }
const QUICK = { repetitions: 2, rampMs: 100, measureMs: 400 }
/** For a rate that is not known yet. */
const RECEIPTS_PER_SECOND = 3_000
const PAGE = 100
const THREAD_PACKAGES = 10

interface Kind {
  readonly id: string
  readonly label: string
  readonly status: number
  readonly source: Source
}

async function run({ quick, workers, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const plan = quick ? QUICK : FULL
  const bed = await startBed()
  progress('making organizations and packages')
  const market = await marketOf(bed)
  const kinds = await kindsOf(market)
  const results = new Map<Kind, { outcome: Outcome; cpu: number }[]>(kinds.map((kind) => [kind, []]))
  // The first round only warms up.
  for (let repetition = 0; repetition <= plan.repetitions; repetition++) {
    for (const kind of kinds) {
      const measured = await measure(market, kind, plan)
      if (repetition > 0) results.get(kind)?.push(measured)
      progress(
        `${repetition}/${plan.repetitions} ${kind.label}: ${Math.round(measured.outcome.perSecond)} /s`,
      )
    }
  }
  return {
    title: `Other operations, ${CLIENTS} clients, ${workers === 1 ? 'one API process' : `${workers} API processes`}`,
    plot: `Other operations a second, ${CLIENTS} clients`,
    figures: [...results].flatMap(([kind, list]) => figuresOf(kind, list)),
    notes: [
      `Reads are of packages in threads of ${THREAD_PACKAGES}, by their recipients and senders; polling asks for the ` +
        `first ${PAGE} notifications of longer streams.`,
    ],
  }
}

async function measure({ load, tokens, exchange }: Market, { source, status }: Kind, plan: typeof FULL) {
  if (source.kind === 'stock') {
    const seconds = (plan.rampMs + plan.measureMs) / 1_000
    await load.call('fill', source.stock, Math.ceil(RECEIPTS_PER_SECOND * seconds))
  }
  const { url, pid } = exchange.service
  const target = { url, tokens: await tokens.fresh() }
  await load.call('connect', target, CLIENTS)
  const before = cpuSeconds([pid])
  const outcome = await load.call('run', { ...plan, target, source, status })
  return { outcome, cpu: ((cpuSeconds([pid]) - before) * 1e6) / outcome.requests }
}

async function kindsOf(market: Market): Promise<Kind[]> {
  const { load, senders, receivers } = market
  await load.call('createStock', {
    name: 'receipts',
    kind: 'receipts',
    senders: senders.map(toParty),
    receivers: receivers.map(toParty),
  })
  const made = await prepareReads(market, { packages: THREAD_PACKAGES, notifications: PAGE })
  const reads = (path: (thread: (typeof made)[number]) => string): Source => ({
    kind: 'reads',
    reads: made.map((thread, sender) => ({ path: path(thread), sender })),
  })
  return [
    {
      id: 'policy_receipts',
      label: 'createPolicyReceipt',
      status: 201,
      source: { kind: 'stock', stock: 'receipts' },
    },
    {
      id: 'get_package',
      label: 'getPackage',
      status: 200,
      source: reads(({ packageId }) => `/v1/packages/${packageId}`),
    },
    {
      id: 'get_thread',
      label: `getThread, ${THREAD_PACKAGES} packages`,
      status: 200,
      source: reads(({ threadId }) => `/v1/threads/${threadId}`),
    },
    {
      id: 'list_notifications',
      label: `listNotifications, ${PAGE} a page`,
      status: 200,
      source: reads(() => `/v1/notifications?limit=${PAGE}`),
    },
  ]
}

function figuresOf({ id, label }: Kind, list: readonly { outcome: Outcome; cpu: number }[]): Figure[] {
  const outcomes = list.map(({ outcome }) => outcome)
  return [
    figureOf(
      `${id}_per_second`,
      label,
      'per_second',
      outcomes.map(({ perSecond }) => perSecond),
    ),
    figureOf(
      `${id}_p99_ms`,
      '  p99',
      'milliseconds',
      outcomes.map(({ p99Ms }) => p99Ms),
    ),
    figureOf(
      `${id}_cpu_us`,
      '  CPU of the service',
      'microseconds',
      list.map(({ cpu }) => cpu),
    ),
  ]
}
