import { percentiles } from '../statistics.ts'
import { exponential, type Random, seeded } from './random.ts'
import { Cores, Flusher, Turnstile } from './resources.ts'
import { Timeline } from './timeline.ts'

/** What things cost, in milliseconds. */
export interface Costs {
  /** CPU of an API process for a package, without signatures: on its event loop. */
  readonly loopMs: number
  /** CPU for verifying the sender's signature and signing the acceptance: on any core. */
  readonly signatureMs: number
  /** CPU of PostgreSQL for a package, as part of a batch. */
  readonly databaseMs: number
  /** CPU of whoever sends it, where that is the same machine. */
  readonly clientMs: number
  readonly flushMs: number
  /** Between API process and database. */
  readonly roundTripMs: number
}

export interface Deployment {
  readonly replicas: number
  readonly shards: number
  readonly coresPerReplica: number
  readonly coresPerShard: number
  /** Everything, clients included, shares the cores of the first replica. */
  readonly isOneMachine?: boolean
  /** Share of packages that go to one receiving organization. */
  readonly hotShare?: number
}

export interface Load {
  readonly seed: number
  readonly packages: number
  /** Closed loop with so many clients for each replica, or an open loop at this rate. */
  readonly clientsPerReplica?: number
  readonly perSecond?: number
}

export interface Simulated {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** How busy the cores were, 0 to 1. */
  readonly apiUse: number
  readonly databaseUse: number
}

/** As the service has them (features/packages/acceptance.ts). */
const LANES = 2
const MAXIMUM_BATCH = 32
/** Trips to the database that a batch makes one after the other: what the decision needs, and what it writes. */
const TRIPS_PER_BATCH = 2
/** Part of a batch's work that is done while it holds the counters of its streams. */
const HOLDING_SHARE = 0.3
/** What the other party's stream costs where it lives on another shard, of a whole package. */
const RELAY_SHARE = 0.25
/** Before the commit: admission and parsing; after it: the answer. */
const LOOP_BEFORE = 0.8
/** What counts begins after so many answers, and ends before the last ones trickle in. */
const WARM_UP_SHARE = 0.2
const DRAIN_SHARE = 0.8

interface Package {
  readonly isHot: boolean
  readonly done: () => void
}

/** Runs one deployment under one load, in virtual time. */
export function simulate(costs: Costs, deployment: Deployment, load: Load): Simulated {
  const timeline = new Timeline()
  const random = seeded(load.seed)
  const { replicas, shards, hotShare = 0 } = deployment
  const apiCores = range(replicas, () => new Cores(timeline, deployment.coresPerReplica))
  const [machine] = apiCores
  const isOne = deployment.isOneMachine === true
  const databases = range(shards, () => {
    const cores = isOne && machine ? machine : new Cores(timeline, deployment.coresPerShard)
    return { cores, log: new Flusher(timeline, costs.flushMs), hotRow: new Turnstile() }
  })
  const commits = range(replicas, () => databases.map((database) => groupCommit(timeline, costs, database)))
  const loops = range(replicas, () => new Turnstile())
  const clientLoop = new Turnstile()
  const latencies: number[] = []
  const counted = {
    from: Math.floor(load.packages * WARM_UP_SHARE),
    to: Math.floor(load.packages * DRAIN_SHARE),
  }
  let sent = 0
  let answers = 0
  let begunAt = 0
  let endedAt = 0

  function send(replica: number, onAnswer: () => void): void {
    const from = timeline.now
    sent++
    const shard = Math.floor(random() * shards)
    const isHot = random() < hotShare
    const cores = apiCores[replica]
    const loop = loops[replica] as Turnstile
    const answered = () => {
      answers++
      if (answers === counted.from) begunAt = timeline.now
      if (answers === counted.to) endedAt = timeline.now
      if (answers > counted.from && answers <= counted.to) latencies.push(timeline.now - from)
      onAnswer()
    }
    const answer = () => onLoop(loop, cores, costs.loopMs * (1 - LOOP_BEFORE), answered)
    const accept = () => {
      // The hot organization lives on the first shard.
      const home = isHot ? 0 : shard
      commits[replica]?.[home]?.({ isHot, done: answer })
      relay(home)
    }
    // Signatures are checked and made on the event loop (decision 0013).
    const work = () => onLoop(loop, cores, costs.loopMs * LOOP_BEFORE + costs.signatureMs, accept)
    if (isOne) onLoop(clientLoop, machine, costs.clientMs, work)
    else work()
  }

  /** The other party's stream, where it lives elsewhere: later, by whoever carries events between shards. */
  function relay(home: number): void {
    const other = Math.floor(random() * shards)
    if (other === home) return
    databases[other]?.cores.use(costs.databaseMs * RELAY_SHARE, () => undefined)
  }

  start(load, { timeline, random, replicas, send, isOver: () => sent >= load.packages })
  timeline.run()
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(latencies, [0.5, 0.99])
  const use = (list: readonly Cores[], each: number) =>
    list.reduce((sum, { busyMs }) => sum + busyMs, 0) / (timeline.now * list.length * each)
  return {
    perSecond: (latencies.length * 1_000) / (endedAt - begunAt),
    p50Ms,
    p99Ms,
    apiUse: use(apiCores, deployment.coresPerReplica),
    databaseUse: isOne
      ? Number.NaN
      : use(
          databases.map(({ cores }) => cores),
          deployment.coresPerShard,
        ),
  }
}

/** On one thread, which has to wait for its turn and then for a core. */
function onLoop(
  turnstile: Turnstile,
  cores: Cores | undefined,
  milliseconds: number,
  then: () => void,
): void {
  turnstile.enter((leave) =>
    cores?.use(milliseconds, () => {
      leave()
      then()
    }),
  )
}

interface Database {
  readonly cores: Cores
  readonly log: Flusher
  readonly hotRow: Turnstile
}

/** What arrives while the lanes are busy forms the next batch, as in kernel/group-commit.ts. */
function groupCommit(timeline: Timeline, { databaseMs, roundTripMs }: Costs, database: Database) {
  const queue: Package[] = []
  let underWay = 0

  function run(batch: readonly Package[], done: () => void): void {
    const work = databaseMs * batch.length
    const finish = (leave: () => void) =>
      database.cores.use(work * HOLDING_SHARE, () =>
        database.log.flush(() => {
          leave()
          for (const each of batch) each.done()
          done()
        }),
      )
    timeline.after(TRIPS_PER_BATCH * roundTripMs, () =>
      database.cores.use(work * (1 - HOLDING_SHARE), () => {
        if (batch.some(({ isHot }) => isHot)) database.hotRow.enter(finish)
        else finish(() => undefined)
      }),
    )
  }

  /** Beside the first only full ones. */
  function isWorthABatch(): boolean {
    return underWay === 0 ? queue.length > 0 : underWay < LANES && queue.length >= MAXIMUM_BATCH
  }

  function next(): void {
    while (isWorthABatch()) {
      underWay++
      run(queue.splice(0, MAXIMUM_BATCH), () => {
        underWay--
        next()
      })
    }
  }

  return (submitted: Package): void => {
    queue.push(submitted)
    next()
  }
}

interface Start {
  readonly timeline: Timeline
  readonly random: Random
  readonly replicas: number
  readonly send: (replica: number, onAnswer: () => void) => void
  readonly isOver: () => boolean
}

function start(load: Load, { timeline, random, replicas, send, isOver }: Start): void {
  const { clientsPerReplica = 0, perSecond } = load
  if (perSecond === undefined) {
    const again = (replica: number) => {
      if (!isOver()) send(replica, () => again(replica))
    }
    for (let client = 0; client < clientsPerReplica * replicas; client++) again(client % replicas)
    return
  }
  const arrive = () => {
    if (isOver()) return
    send(Math.floor(random() * replicas), () => undefined)
    timeline.after(exponential(random, perSecond / 1_000), arrive)
  }
  arrive()
}

function range<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
