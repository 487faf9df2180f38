import { availableParallelism } from 'node:os'
import type { Area, AreaContext, AreaResult, Table } from '../area.ts'
import { formatNumber } from '../report/units.ts'
import { simulate, type Costs, type Deployment } from './model.ts'

/** From one machine to many, before anybody buys them. */
export const simulationArea: Area = {
  name: 'simulation',
  what: 'load against replicas and shards, simulated with the costs that were measured',
  run,
}

const SEED = 20_260_101
const PACKAGES = { full: 20_000, quick: 6_000 }
/** Packages of each client at least, so that the first ones do not count for much. */
const TURNS = 8
const CLIENTS = 64
const CORES = { coresPerReplica: 2, coresPerShard: 8 }
/** Within one data centre. */
const ROUND_TRIP_MS = 0.2
/** What this machine's disk may hide: a flush on networked storage. */
const LEAST_FLUSH_MS = 1

/** Where packages were not measured in this run: what decision 0013 saw. */
const USUAL = {
  serviceUs: 740,
  postgresUs: 430,
  clientUs: 30,
  verifyPerSecond: 10_000,
  signPerSecond: 25_000,
}

const DEPLOYMENTS: readonly Deployment[] = [
  [1, 1],
  [2, 1],
  [4, 1],
  [8, 1],
  [16, 1],
  [32, 1],
  [16, 2],
  [32, 2],
  [32, 4],
  [64, 8],
].map(([replicas = 1, shards = 1]) => ({ ...CORES, replicas, shards }))

const HOT: readonly Deployment[] = [
  { ...CORES, replicas: 8, shards: 1, hotShare: 0.5 },
  { ...CORES, replicas: 8, shards: 1, hotShare: 1 },
  { ...CORES, replicas: 32, shards: 4, hotShare: 0.5 },
]

async function run({ quick, progress, earlier }: AreaContext): Promise<AreaResult> {
  const costs = costsOf(earlier)
  const rows = [...DEPLOYMENTS, ...HOT].map((deployment) => {
    progress(`${deployment.replicas} replicas, ${deployment.shards} shards`)
    return rowOf(costs, deployment, quick ? PACKAGES.quick : PACKAGES.full)
  })
  const table: Table = {
    title: `Simulated: replicas of ${CORES.coresPerReplica} cores, databases of ${CORES.coresPerShard}, ${CLIENTS} clients a replica`,
    head: [
      'replicas',
      'shards',
      'to one organization',
      'packages/s',
      'p99 at half, ms',
      'API busy',
      'database busy',
    ],
    rows,
  }
  return {
    title: 'Simulation',
    figures: [],
    tables: [table],
    notes: [describe(costs, earlier), sanity(costs, earlier)].filter((note) => note !== ''),
  }
}

function costsOf(earlier: AreaContext['earlier']): Costs {
  const service = earlier('package_service_cpu_us') ?? USUAL.serviceUs
  const verify = 1e6 / (earlier('es256_verify_1') ?? USUAL.verifyPerSecond)
  const sign = 1e6 / (earlier('es256_sign_1') ?? USUAL.signPerSecond)
  const signature = Math.min(verify + sign, service / 2)
  return {
    loopMs: (service - signature) / 1_000,
    signatureMs: signature / 1_000,
    databaseMs: (earlier('package_postgres_cpu_us') ?? USUAL.postgresUs) / 1_000,
    clientMs: (earlier('package_load_cpu_us') ?? USUAL.clientUs) / 1_000,
    flushMs: Math.max(LEAST_FLUSH_MS, earlier('fsync_ms') ?? 0),
    roundTripMs: ROUND_TRIP_MS,
  }
}

const percent = (share: number) => `${Math.round(share * 100)}%`

function rowOf(costs: Costs, deployment: Deployment, atLeast: number): string[] {
  const packages = Math.max(atLeast, deployment.replicas * CLIENTS * TURNS)
  const most = simulate(costs, deployment, { seed: SEED, packages, clientsPerReplica: CLIENTS })
  const half = simulate(costs, deployment, { seed: SEED, packages, perSecond: most.perSecond / 2 })
  return [
    String(deployment.replicas),
    String(deployment.shards),
    percent(deployment.hotShare ?? 0),
    Math.round(most.perSecond).toLocaleString('en'),
    formatNumber(half.p99Ms),
    percent(most.apiUse),
    percent(most.databaseUse),
  ]
}

function describe(
  { loopMs, signatureMs, databaseMs, flushMs }: Costs,
  earlier: AreaContext['earlier'],
): string {
  const origin = earlier('package_service_cpu_us') === undefined ? 'usual values' : 'measured in this run'
  return (
    `Costs of a package (${origin}): event loop ${loopMs.toFixed(3)} ms, signatures ${signatureMs.toFixed(3)} ms, ` +
    `PostgreSQL ${databaseMs.toFixed(3)} ms; a flush ${flushMs.toFixed(1)} ms, a round trip ${ROUND_TRIP_MS} ms. ` +
    'The seed is fixed: the same costs give the same table.'
  )
}

/** The model of this very machine beside what it really did: how far to believe the rest. */
function sanity(costs: Costs, earlier: AreaContext['earlier']): string {
  const measured = earlier('accepted_per_second')
  if (measured === undefined) return ''
  const coresPerReplica = availableParallelism()
  const here = { replicas: 1, shards: 1, coresPerReplica, coresPerShard: 1, isOneMachine: true }
  const local = { ...costs, flushMs: earlier('fsync_ms') ?? costs.flushMs, roundTripMs: 0.05 }
  const { perSecond } = simulate(local, here, {
    seed: SEED,
    packages: PACKAGES.quick,
    clientsPerReplica: CLIENTS,
  })
  return (
    `The same model of this machine, everything on its ${coresPerReplica} cores: ${Math.round(perSecond)} ` +
    `packages/s; measured: ${Math.round(measured)}.`
  )
}
