import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { openCheckpoint, parseVerifierKey, rootFromTiles } from '@agent-exchange/log'
import { newAttempt, send } from '../shared/ledger.ts'
import { killed } from '../shared/serve-process.ts'
import { mustRun } from '../shared/programs.ts'
import { requireAccepted } from './ask-torchwood.ts'
import { fsck, isPublished, logStatus, statusWhen } from './log-under-trial.ts'
import { operatorCommand, publicTiles, type WitnessedLog } from './witnessed-log.ts'

const MIRROR_MS = 60_000
/** What the service remembers of its last checkpoint outside the database starts with this name. */
const CHECKPOINT_FILE = /^log-checkpoint/u

const mirrorOf = ({ folder }: WitnessedLog) => join(folder, 'mirror')

/** Copies the log with tessera's mirror. Every file is identical to what the exchange serves. */
export async function mirrorLog(log: WitnessedLog): Promise<string> {
  const { judges, folder, exchange, verifierKey } = log
  await statusWhen(exchange, isPublished)
  const mirror = mirrorOf(log)
  // As in the recipe of docs/operations.md: more workers than new entries never end.
  const args = ['--num_workers=1', `--source_url=${exchange.url}/log/`, `--storage_dir=${mirror}`]
  const output = await mustRun(judges.mirror, args, { limitMs: MIRROR_MS })
  assert.match(output, /Log mirrored successfully/u)
  const files = readdirSync(mirror, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
  for (const { parentPath, name } of files) {
    const path = relative(mirror, join(parentPath, name))
    const served = Buffer.from(await (await fetch(`${exchange.url}/log/${path}`)).arrayBuffer())
    assert.ok(served.equals(readFileSync(join(mirror, path))), path)
  }
  const copy = await fsck({ judges, folder, url: `file://${mirror}/`, verifierKey })
  assert.ok(copy.isSound, copy.output)
  return `${files.length} files, identical; fsck accepts the copy`
}

/** Only the witnesses remember: the file of the last checkpoint is gone as well, as on a new machine. */
export async function restoreBackup(log: WitnessedLog, backup: string): Promise<string> {
  const { exchange, parties } = log
  const last = await logStatus(exchange)
  await killed(exchange.current(), 'SIGTERM')
  await operatorCommand(exchange, 'restore', '--force', backup)
  const remembered = readdirSync(exchange.dataDirectory).filter((name) => CHECKPOINT_FILE.test(name))
  assert.equal(remembered.length, 1)
  for (const name of remembered) rmSync(join(exchange.dataDirectory, name), { recursive: true })
  await exchange.start()
  const { refusal, size, published_size, what_to_do, witnesses } = await statusWhen(
    exchange,
    ({ state }) => state === 'refusing',
  )
  assert.equal(refusal?.reason, 'behind_witness')
  assert.equal(refusal.known_size, last.published_size, 'the witness reports its size')
  assert.deepEqual(
    witnesses.map(({ outcome }) => outcome),
    ['ahead', 'ahead'],
  )
  assert.ok(size < last.size)
  assert.match(what_to_do ?? '', /aex log recover/u)
  const attempt = await newAttempt(...parties)
  assert.ok(await send(attempt), 'packages are accepted while the log refuses')
  log.ledger.push(attempt)
  const waiting = await statusWhen(exchange, ({ pending_leaves }) => pending_leaves > 0)
  assert.equal(waiting.state, 'refusing')
  // A tree that does not grow cannot fork: the size tells that nothing was appended, so nothing new was signed.
  assert.deepEqual([waiting.size, waiting.published_size], [size, published_size])
  return `both witnesses report ${refusal.known_size}, the backup has ${size}; nothing is signed`
}

/** The mirror refills the tail: same root, and the log continues for auditor, verifier and witnesses. */
export async function recoverFromMirror(log: WitnessedLog): Promise<string> {
  const { judges, folder, exchange, verifierKey, policyFile } = log
  const mirror = mirrorOf(log)
  const mirrored = await openCheckpoint(readFileSync(join(mirror, 'checkpoint')), [
    parseVerifierKey(verifierKey),
  ])
  const before = await logStatus(exchange)
  await operatorCommand(exchange, 'log', 'recover', '--mirror', mirror, '--reason', 'restored', '--json')
  const { size } = await statusWhen(exchange, (status) => isPublished(status) && status.size > mirrored.size)
  const root = await rootFromTiles(mirrored.size, publicTiles(exchange))
  assert.deepEqual(Buffer.from(root), Buffer.from(mirrored.root), 'the refilled tree has the same root')
  const refilled = await fsck({ judges, folder, url: `${exchange.url}/log/`, verifierKey })
  assert.ok(refilled.isSound, refilled.output)
  const text = await (await fetch(`${exchange.url}/log/checkpoint`)).text()
  requireAccepted(judges, policyFile, [{ text }])
  return `${mirrored.size - before.size} entries refilled, same root; fsck and both witnesses accept ${size} leaves`
}
