import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  EMPTY_ROOT,
  formatSignerKey,
  formatVerifierKey,
  noteSigner,
  SIGNATURE_TYPE,
} from '@agent-exchange/log'
import { freePorts } from '@agent-exchange/testkit'
import { mustRun } from '../shared/programs.ts'
import { Skipped } from '../shared/report.ts'
import type { Judges } from './go-judges.ts'
import { answersAt, startJudge } from './judge-processes.ts'

const STEP_MS = 20_000

/** A witness that knows one log. */
export interface OutsideWitness extends AsyncDisposable {
  readonly name: string
  readonly url: string
  readonly verifierKey: string
}

interface WitnessSettings {
  readonly judges: Judges
  /** An existing folder for its files. */
  readonly folder: string
  readonly log: { readonly origin: string; readonly verifierKey: string }
}

/** torchwood's litewitness. Its key is in an ssh-agent; its logs are rows of its SQLite database. */
export async function startLitewitness({ judges, folder, log }: WitnessSettings): Promise<OutsideWitness> {
  for (const name of ['ssh-keygen', 'ssh-agent', 'ssh-add']) requireCommand(name)
  const [home, name] = [join(folder, 'litewitness'), 'litewitness.example/w']
  mkdirSync(home)
  const [key, socket, db] = [join(home, 'key'), join(home, 'agent'), join(home, 'witness.db')]
  await mustRun('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key], { limitMs: STEP_MS })
  const fingerprint =
    (await mustRun('ssh-keygen', ['-lf', `${key}.pub`], { limitMs: STEP_MS })).split(' ')[1] ?? ''
  await using cleanup = new AsyncDisposableStack()
  cleanup.use(
    await startJudge('ssh-agent', ['-D', '-a', socket], (output) => output.includes('SSH_AUTH_SOCK')),
  )
  await mustRun('ssh-add', ['-q', key], { env: { SSH_AUTH_SOCK: socket }, limitMs: STEP_MS })
  const [port] = await freePorts(1)
  const url = `http://127.0.0.1:${port}`
  const args = [
    '-name',
    name,
    '-db',
    db,
    '-ssh-agent',
    socket,
    '-key',
    fingerprint,
    '-listen',
    `127.0.0.1:${port}`,
  ]
  const witness = cleanup.use(await startJudge(judges.litewitness, args, () => answersAt(url)))
  const verifierKey = /vkey=(\S+)/u.exec(witness.output())?.[1] ?? ''
  addLog(db, log)
  const held = cleanup.move()
  return { name: 'litewitness', url, verifierKey, [Symbol.asyncDispose]: () => held.disposeAsync() }
}

/** OpenSSH programs have no option that only prints a version. */
function requireCommand(name: string): void {
  if (spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
    throw new Skipped(`${name} is not installed`)
}

function addLog(path: string, { origin, verifierKey }: WitnessSettings['log']): void {
  const db = new DatabaseSync(path)
  const root = Buffer.from(EMPTY_ROOT).toString('base64')
  db.prepare('insert into log (origin, tree_size, tree_hash) values (?, 0, ?)').run(origin, root)
  db.prepare('insert into key (origin, key) values (?, ?)').run(origin, verifierKey)
  db.close()
}

/** transparency-dev's omniwitness. */
export async function startOmniwitness({ judges, folder, log }: WitnessSettings): Promise<OutsideWitness> {
  const [home, name, seed] = [join(folder, 'omniwitness'), 'omniwitness.example/w', randomBytes(32)]
  mkdirSync(home)
  const [key, logs, db] = [join(home, 'key'), join(home, 'logs.yaml'), join(home, 'witness.db')]
  writeFileSync(key, await formatSignerKey(name, SIGNATURE_TYPE.ed25519, seed))
  writeFileSync(
    logs,
    `Logs:\n  - Origin: ${log.origin}\n    URL: http://127.0.0.1/\n    PublicKey: ${log.verifierKey}\n`,
  )
  const [port, metrics] = await freePorts(2)
  const url = `http://127.0.0.1:${port}`
  const judge = await startJudge(
    judges.omniwitness,
    [
      `--listen=127.0.0.1:${port}`,
      `--metrics_listen=127.0.0.1:${metrics}`,
      `--private_key_path=${key}`,
      `--additional_logs=${logs}`,
      `--db_file=${db}`,
    ],
    () => answersAt(url),
  )
  const { key: verifier } = await noteSigner(name, SIGNATURE_TYPE.cosignature, seed)
  return {
    name: 'omniwitness',
    url,
    verifierKey: formatVerifierKey(verifier),
    [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose](),
  }
}
