import assert from 'node:assert/strict'
import { join } from 'node:path'
import { startLoad } from '../shared/ledger.ts'
import { requireAccepted } from './ask-torchwood.ts'
import { judgeProofs, provedByCapsule, provedByExchange } from './exported-proofs.ts'
import { isPublished, statusWhen } from './log-under-trial.ts'
import type { LogTrial } from './log-trial.ts'
import { plantForks } from './plant-forks.ts'
import { mirrorLog, recoverFromMirror, restoreBackup } from './restore-and-recover.ts'
import { operatorCommand, startWitnessedLog, type WitnessedLog } from './witnessed-log.ts'

const CHECKPOINTS = 100
const LEAVES_BEFORE_BACKUP = 20

/** The life of a log with outside witnesses: growth, a cheating operator, a restored backup, recovery. */
export async function tryWitnesses(trial: LogTrial): Promise<void> {
  const { folder, report } = trial
  let started: WitnessedLog | undefined
  await report.step('witnesses', 'litewitness and omniwitness start', async () => {
    started = await startWitnessedLog(trial)
    return 'each knows the key of the log'
  })
  if (!started) return
  await using log: WitnessedLog = started
  const backup = join(folder, 'backup')
  const steps = [
    ['witnesses', `both cosign ${CHECKPOINTS} checkpoints`, () => cosignMany(log, backup)],
    [
      'torchwood',
      'proofs that the exchange serves',
      async () => judgeProofs(log, await provedByExchange(log)),
    ],
    ['torchwood', 'proofs in a capsule', async () => judgeProofs(log, await provedByCapsule(log))],
    ['witnesses', 'both refuse a planted fork', () => plantForks(log)],
    ['tessera mirror', 'copies the log', () => mirrorLog(log)],
    ['witnesses', 'an older backup refuses to sign', () => restoreBackup(log, backup)],
    ['tessera mirror', 'refills a log without its tail', () => recoverFromMirror(log)],
  ] as const
  // Each step needs the state that the one before it left.
  for (const [tool, what, attempt] of steps) if (!(await report.step(tool, what, attempt))) return
}

/** Grows the log slowly; both witnesses have cosigned each of the last checkpoints, without a gap. */
async function cosignMany(log: WitnessedLog, backup: string): Promise<string> {
  const { exchange, judges, policyFile, parties, ledger } = log
  const [seats, cars] = parties
  const load = startLoad(ledger, { pairs: [[seats, cars]], clients: 1, attempts: Infinity })
  await statusWhen(exchange, ({ published_size }) => published_size > LEAVES_BEFORE_BACKUP)
  await operatorCommand(exchange, 'backup', backup, '--with-keys')
  const before = await countCheckpoints(log)
  for (let last = 0; (await countCheckpoints(log)) < before + CHECKPOINTS;)
    last = (await statusWhen(exchange, ({ published_size }) => published_size > last)).published_size
  await load.stop()
  await statusWhen(exchange, isPublished)
  const rows = await exchange.sql<{ published: string | null }[]>`
    select published from log_checkpoint order by size desc limit ${CHECKPOINTS}`
  const notes = rows.map(({ published }) => published ?? assert.fail('a checkpoint was not published'))
  requireAccepted(
    judges,
    policyFile,
    notes.map((text) => ({ text })),
  )
  return `torchwood finds both cosignatures on ${notes.length} consecutive checkpoints`
}

async function countCheckpoints({ exchange }: WitnessedLog): Promise<number> {
  const [row] = await exchange.sql<{ count: string }[]>`select count(*) from log_checkpoint`
  return Number(row?.count)
}
