import { ratioOf, tableOf, type Area, type AreaContext, type AreaResult, type Ratio } from '../area.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { SEND_TO_ARRIVAL, sendToArrival, type SendToArrival } from '../end-to-end/send-to-arrival.ts'
import { registerEndpoints, type Rig } from '../exchange/delivering-exchange.ts'
import { makeOrganizations, toParty, tokensFor } from '../exchange/parties.ts'
import { untilSettled } from '../exchange/until-settled.ts'
import { startLoad } from '../load/load.ts'
import { enoughForPoisson } from '../load/needed-packages.ts'
import { exactly, inTurns, type Contender } from '../rounds.ts'
import { median } from '../statistics.ts'
import { attacksOf, type Attack } from './attacks.ts'

/** Whether a hostile organization slows another one down. */
export const fairnessArea: Area = {
  name: 'fairness',
  what: 'p99 of an organization while another one floods the exchange, to its p99 alone',
  isLong: true,
  run,
}

const FULL = { rounds: exactly(5), rampMs: 1_000, measureMs: 6_000 }
const QUICK = { rounds: exactly(2), rampMs: 500, measureMs: 2_000 }
const VICTIMS = 4
const PER_SECOND = 40
const SEED = 20_260_101
const HANGING_ENDPOINTS = 20
/** The attack starts before the measurement and ends after it. */
const MARGIN_MS = 500
/** A factor up to this, or an increase up to this, is fair. */
const FAIR = { factor: 1.5, milliseconds: 20 }
const ALONE: Contender = { id: 'fairness_alone', label: 'alone' }

async function run({ quick, progress, bed: startBed }: AreaContext): Promise<AreaResult> {
  const { rounds, ...span } = quick ? QUICK : FULL
  progress('starting PostgreSQL, an exchange, a receiver, victims and a hostile organization')
  const bed = await startBed()
  await using cleanup = new AsyncDisposableStack()
  const receiver = await startReceiver(bed, cleanup, VICTIMS + HANGING_ENDPOINTS)
  const rig: Rig = { load: cleanup.use(startLoad()), receiver, postgres: bed.postgres }
  const exchange = cleanup.use(await bed.exchange('fairness', { ...receiver.settings, AEX_ROLE: 'all' }))
  const { service, world } = exchange
  const senders = await makeOrganizations(world, 'victim', VICTIMS)
  const receivers = await makeOrganizations(world, 'recipient', VICTIMS)
  for (const [i, owner] of receivers.entries())
    await registerEndpoints(owner, [`${receiver.origins[i]}/hook`])
  const tokens = tokensFor(senders, service)
  const parties = { senders: senders.map(toParty), receivers: receivers.map(toParty) }
  await rig.load.call('createStock', { ...parties, name: 'victim', kind: 'packages', needsReceipts: true })
  const victim = {
    api: service,
    worker: service,
    target: async () => ({ url: service.url, tokens: await tokens.fresh() }),
    stock: () => 'victim',
  }
  const [hostile] = await makeOrganizations(world, 'hostile', 1)
  if (!hostile) throw new Error('nobody is hostile')
  const hostileLoad = cleanup.use(startLoad())
  const hostileTokens = tokensFor([hostile], service)
  const origins = receiver.origins.slice(VICTIMS)
  const attacks = await attacksOf({ organization: hostile, load: hostileLoad, exchange, origins })
  await receiver.process.call('hang', true)

  const attacking = async ({ connections, source, stock }: Attack) => {
    const target = { url: service.url, tokens: await hostileTokens.fresh() }
    if (source.kind === 'stock') await hostileLoad.call('fill', source.stock, stock ?? 0, target)
    await hostileLoad.call('connect', target, connections)
    return hostileLoad.call('run', {
      target,
      source,
      status: 'any',
      rampMs: 0,
      measureMs: span.rampMs + span.measureMs + MARGIN_MS,
    })
  }
  const measureVictim = (round: number) =>
    sendToArrival(rig, victim, {
      ...span,
      fanOut: 1,
      arrivals: { perSecond: PER_SECOND, poissonSeed: SEED + round },
      packages: enoughForPoisson(PER_SECOND, span),
      isHealthyOnly: true,
    })
  const results = await inTurns<Contender & Partial<Attack>, SendToArrival>([ALONE, ...attacks], {
    rounds,
    async measure(contender, round) {
      const attack = attacks.find(({ id }) => id === contender.id)
      // Policy receipts of the victim are sent before the attack.
      await rig.load.call('fill', 'victim', enoughForPoisson(PER_SECOND, span), await victim.target())
      const [measured] = await Promise.all([measureVictim(round), attack && attacking(attack)])
      if (attack?.hurts === 'webhooks') {
        await receiver.process.call('hang', false)
        await untilSettled(exchange.database)
        await receiver.process.call('hang', true)
      }
      return measured
    },
    progress,
    show: ({ answerP99Ms, p99Ms }) => `p99 ${answerP99Ms.toFixed(1)} ms, to arrival ${p99Ms.toFixed(1)} ms`,
  })
  await receiver.process.call('hang', false)
  return {
    tables: [
      tableOf(
        `An organization that sends ${PER_SECOND} packages a second, while another one attacks`,
        [
          { member: 'answerP99Ms', id: 'answer_p99_ms', head: 'p99 ms' },
          { member: 'answerP50Ms', id: 'answer_p50_ms', head: 'p50 ms' },
          ...SEND_TO_ARRIVAL.filter(({ member }) => member === 'p50Ms' || member === 'p99Ms').map(
            (column) => ({
              ...column,
              head: `to arrival ${column.head}`,
            }),
          ),
        ],
        [ALONE, ...attacks].map(({ id, label }) => ({ id, label, list: results.get(id) ?? [] })),
      ),
    ],
    ratios: attacks.map((attack) => fairnessOf(attack, results)),
    notes: [
      'The hostile organization sends as fast as it gets responses, by 40 connections (registrations and chunks: 8), whatever the ' +
        'status of the responses. Webhooks to slow receivers: 20 endpoints that accept requests and do not respond.',
      `At most ${FAIR.factor} times the p99 alone is fair, or ${FAIR.milliseconds} ms more.`,
    ],
  }
}

function fairnessOf(
  { id, label, hurts }: Attack,
  results: ReadonlyMap<string, readonly SendToArrival[]>,
): Ratio {
  const p99 = (of: string) =>
    (results.get(of) ?? []).map((each) => (hurts === 'webhooks' ? each.p99Ms : each.answerP99Ms))
  const more = median(p99(id)) - median(p99(ALONE.id))
  return {
    ...ratioOf(id, `p99 during ${label} to alone`, [p99(id), p99(ALONE.id)], {
      at: 'most',
      must: FAIR.factor,
    }),
    excuse: more <= FAIR.milliseconds ? `reached: ${more.toFixed(0)} ms more` : undefined,
  }
}
