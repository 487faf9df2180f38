import { randomBytes } from 'node:crypto'
import {
  edgeRoot,
  EMPTY_EDGE,
  formatCheckpoint,
  noteSigner,
  recordLeaf,
  signNote,
  SIGNATURE_TYPE,
  verifyCapsuleFile,
} from '@agent-exchange/log'
import {
  insertCheckpoint,
  publishCheckpoint,
} from '../../../packages/service/src/features/transparency-log/checkpoint-store.ts'
import { toLogBatch } from '../../../packages/service/src/kernel/log-batch.ts'
import { listOf, type Area, type AreaContext, type AreaResult, type Ratio } from '../area.ts'
import { measure } from '../measure.ts'
import { median } from '../statistics.ts'
import { largeCapsule } from './large-capsule.ts'
import { leafProver, openLogDatabase, queueLeaves, sequenceAll } from './sequencing.ts'

/** The transparency log: its cost, its throughput, and the time of a verification. */
export const logArea: Area = {
  name: 'log',
  what: 'the transparency log: leaves made and sequenced a second, time of a proof, verification of a large capsule',
  run,
}

const LEAVES = { full: 100_000, quick: 10_000 }
/** Twenty entries each. */
const PACKAGES = { full: 500, quick: 25 }
const VERIFICATIONS = { full: 3, quick: 3 }
const BATCH = 20
const BATCHES = 2_000
const PROOFS = { repetitions: 5, milliseconds: 500 }
const QUICK_PROOFS = { repetitions: 3, milliseconds: 60 }

async function run(context: AreaContext): Promise<AreaResult> {
  const { quick, progress, earlier } = context
  const pick = (counts: { full: number; quick: number }) => (quick ? counts.quick : counts.full)
  progress('making leaves')
  const record = sampleRecord()
  const records = Array.from({ length: BATCH }, () => record)
  const makeLeaves = () => {
    for (let batch = 0; batch < BATCHES; batch++) toLogBatch(records, recordLeaf)
  }
  makeLeaves()
  const leafCpu = (await cpuOf(makeLeaves)) / (BATCHES * BATCH)
  const log = await sequencing(context, pick(LEAVES))
  const capsule = await largeCapsule(pick(PACKAGES), progress)
  const bytes = new TextEncoder().encode(JSON.stringify(capsule))
  const seconds: number[] = []
  for (let at = 0; at < pick(VERIFICATIONS); at++) {
    progress('verifying the capsule')
    const cpu = await cpuOf(async () => {
      const { word, contradictions } = await verifyCapsuleFile(bytes, { require: 'unpinned' })
      if (word !== 'consistent') throw new Error(`${word}: ${contradictions[0]?.code}`)
    })
    seconds.push(cpu / 1_000_000)
  }
  const entries = capsule.entries.length.toLocaleString('en')
  return {
    tables: [
      listOf('Transparency log', [
        ['log_leaf_us', 'CPU of the API to make the leaf of a record, µs', [leafCpu]],
        ...log,
        ['log_capsule_seconds', `CPU to verify a capsule of ${entries} entries, s`, seconds],
        ['log_capsule_mb', 'size of that capsule, MB', [bytes.length / 1_048_576]],
      ]),
    ],
    ratios: costOf([leafCpu, ...(log.find(([id]) => id === 'log_sequence_us')?.[2] ?? [])], earlier),
    notes: [
      `Leaves are sequenced from batches of ${BATCH}, on PostgreSQL with fsync; proofs are of random leaves and one at a time.`,
      'The capsule is of one thread with packages of a real exchange, twenty entries each. It is verified from its bytes, without a policy.',
    ],
  }
}

/** Of one leaf, to the CPU of accepting a package, if that was measured in the same run. */
function costOf(microseconds: readonly number[], earlier: AreaContext['earlier']): Ratio[] {
  const ofPackage = earlier('accepted_server_cpu_us')
  if (!ofPackage) return []
  const value = microseconds.reduce((sum, each) => sum + each, 0) / median(ofPackage)
  const label = 'CPU of a leaf, made and sequenced, to that of a package'
  return [{ id: 'log_to_package', label, value, wanted: { at: 'most', must: 0.03 } }]
}

async function sequencing(
  { quick, progress, bed }: AreaContext,
  leaves: number,
): Promise<Parameters<typeof listOf>[1]> {
  const { postgres } = await bed()
  await using db = await openLogDatabase(postgres)
  progress(`queueing ${leaves} leaves`)
  await queueLeaves(db, leaves)
  progress('sequencing')
  const start = performance.now()
  let edge = EMPTY_EDGE
  const cpu = await cpuOf(async () => {
    edge = await sequenceAll(db)
  })
  const rate = (edge.size * 1_000) / (performance.now() - start)
  const signer = await noteSigner('bench.example/log', SIGNATURE_TYPE.ed25519, randomBytes(32))
  const checkpoint = { origin: signer.key.name, size: edge.size, root: edgeRoot(edge) }
  const note = await signNote(formatCheckpoint(checkpoint), [signer])
  const now = new Date().toISOString()
  await insertCheckpoint(db, checkpoint, { note, now })
  await publishCheckpoint(db, checkpoint, { published: note, now })
  progress('proving leaves')
  const proofs = await measure(await leafProver(db), quick ? QUICK_PROOFS : PROOFS)
  const size = edge.size.toLocaleString('en')
  return [
    ['log_sequenced', 'leaves sequenced a second', [rate]],
    ['log_sequence_us', 'CPU of the sequencer for a leaf, µs', [cpu / edge.size]],
    ['log_proof_ms', `proof of a leaf in a log of ${size}, ms`, proofs.map((perSecond) => 1_000 / perSecond)],
  ]
}

/** CPU time of this process in microseconds: steadier than elapsed time on a busy machine. */
async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** A record of four entries. */
function sampleRecord() {
  return {
    packageId: 'pkg_0123456789abcdef',
    contentDigest: `sha-256=:${randomBytes(32).toString('base64')}:`,
    receiptSignature: randomBytes(64).toString('base64url'),
    threadId: 'thread_0123456789abcdef',
    firstPosition: 1,
    lastPosition: 4,
    previousHash: null,
    entryHashes: Array.from({ length: 4 }, () => randomBytes(32).toString('hex')),
  }
}
