import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  openCheckpoint,
  parseVerifierKey,
  TILE_WIDTH,
  tilePath,
  verifyConsistency,
  type TileName,
} from '@agent-exchange/log'
import type { Organization } from '@agent-exchange/testkit'
import {
  publishedStatus,
  statusWhen,
} from '../../packages/service/src/features/transparency-log/quick-log.fixture.ts'
import { AEX } from '../shared/serve-process.ts'
import type { Exchange } from '../shared/exchange.ts'
import { newAttempt, send, type Attempt } from '../shared/ledger.ts'

const COMMAND_LIMIT_MS = 120_000

/** A log that the trial does not have to wait for, and that everybody may copy. */
export const PUBLIC_QUICK_LOG = {
  'O-07': {
    transparency_public: true,
    transparency_checkpoint_milliseconds: 100,
    transparency_sequence_milliseconds: 20,
  },
}

/** Runs a command of an operator on the machine of the exchange. */
async function aex(
  { dataDirectory, operatorUrl }: Exchange,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [AEX, ...args], {
    env: { NO_COLOR: '1', AEX_DATA_DIR: dataDirectory, AEX_OPERATOR_URL: operatorUrl, ...env },
    cwd: '/',
    timeout: COMMAND_LIMIT_MS,
  })
  return stdout
}

export type Parties = readonly [Organization, Organization]

/** A package that the exchange acknowledged. */
export async function acknowledged(parties: Parties): Promise<Attempt> {
  const attempt = await newAttempt(...parties)
  assert.ok(await send(attempt), attempt.failures.join('; '))
  return attempt
}

const packageIdOf = ({ answer }: Attempt) => (JSON.parse(answer ?? '{}') as { package_id: string }).package_id

export async function requirePackages(
  [sender]: Parties,
  { kept, lost }: { kept: readonly Attempt[]; lost: readonly Attempt[] },
): Promise<void> {
  const statusOf = async (attempt: Attempt) =>
    (await sender.get(`/v1/packages/${packageIdOf(attempt)}`)).status
  for (const attempt of kept) assert.equal(await statusOf(attempt), 200, 'acknowledged before the target')
  for (const attempt of lost) assert.equal(await statusOf(attempt), 404, 'acknowledged after the target')
}

export interface LogCopy {
  readonly folder: string
  readonly size: number
  readonly checkpoint: string
}

/** A complete copy of the published log, as any outsider may keep one. */
export async function copyLog(exchange: Exchange, folder: string): Promise<LogCopy> {
  const size = Number((await publishedStatus(exchange))['published_size'])
  assert.ok(size < TILE_WIDTH, 'the trial copies one tile')
  const names: TileName[] = [
    { level: 'entries', index: 0, width: size },
    { level: 0, index: 0, width: size },
  ]
  for (const path of ['checkpoint', ...names.map(tilePath)]) {
    const answer = await fetch(`${exchange.url}/log/${path}`)
    assert.equal(answer.status, 200, path)
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), Buffer.from(await answer.arrayBuffer()))
  }
  const checkpoint = await (await fetch(`${exchange.url}/log/checkpoint`)).text()
  return { folder, size, checkpoint }
}

/** The log refuses to sign until its lost tail is back, and then continues what was published before. */
export async function requireRecoveredLog(
  exchange: Exchange,
  parties: Parties,
  copy: LogCopy,
): Promise<string> {
  const refusing = await statusWhen(exchange, ({ state }) => state === 'refusing')
  assert.equal((refusing['refusal'] as { reason: string }).reason, 'behind_checkpoint_file')
  await acknowledged(parties)
  const waiting = await statusWhen(exchange, ({ pending_leaves }) => Number(pending_leaves) > 0)
  assert.deepEqual([waiting['state'], waiting['size']], ['refusing', refusing['size']], 'nothing is signed')

  await aex(exchange, ['log', 'recover', '--mirror', copy.folder, '--reason', 'point in time'])
  const { size } = await publishedStatus(exchange, (status) => Number(status['size']) > copy.size)
  const described = (await parties[0].get('/log/key')).body as { verifier_keys: string[] }
  const keys = described.verifier_keys.map(parseVerifierKey)
  const answer = await parties[0].get(`/log/consistency?from=${copy.size}`)
  const { checkpoint, proof } = answer.body as { checkpoint: string; proof: string[] }
  const [old, now] = [await openCheckpoint(copy.checkpoint, keys), await openCheckpoint(checkpoint, keys)]
  verifyConsistency({
    oldSize: old.size,
    oldRoot: old.root,
    newSize: now.size,
    newRoot: now.root,
    proof: proof.map((hash) => Buffer.from(hash, 'base64')),
  })
  return `the log refused at ${String(refusing['size'])} of ${copy.size} leaves, and continues at ${String(size)}`
}
