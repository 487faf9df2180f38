import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  LEAF_LENGTH,
  decodeBundle,
  tilePath,
  tileWidth,
  TILE_WIDTH,
  type ReadTile,
} from '@agent-exchange/log'
import type { Organization } from '@agent-exchange/testkit'
import { runAex } from '../../packages/cli/src/aex-process.fixture.ts'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import type { Ledger } from '../shared/ledger.ts'
import { killed } from '../shared/serve-process.ts'
import { verifierKeyOf, writeProfile } from './log-under-trial.ts'
import type { LogTrial } from './log-trial.ts'
import { startLitewitness, startOmniwitness, type OutsideWitness } from './outside-witnesses.ts'

const ORIGIN = 'witnessed.example/log'

/** An exchange whose checkpoints two outside witnesses cosign. Its tiles are public. */
export interface WitnessedLog extends LogTrial, AsyncDisposable {
  readonly exchange: Exchange
  readonly origin: string
  readonly verifierKey: string
  readonly witnesses: readonly OutsideWitness[]
  /** C2SP tlog-policy that demands both witnesses. */
  readonly policyFile: string
  readonly parties: readonly [Organization, Organization]
  readonly ledger: Ledger
}

export async function startWitnessedLog(trial: LogTrial): Promise<WitnessedLog> {
  const { judges, folder } = trial
  await using cleanup = new AsyncDisposableStack()
  const profile = writeProfile(folder, ORIGIN, { transparency_public: true })
  const exchange = cleanup.use(await startExchange({ env: { AEX_PROFILE: profile } }))
  const parties = [await exchange.organization('seats'), await exchange.organization('cars')] as const
  const verifierKey = await verifierKeyOf(exchange, await parties[0].token())
  const settings = { judges, folder, log: { origin: ORIGIN, verifierKey } }
  const witnesses = [
    cleanup.use(await startLitewitness(settings)),
    cleanup.use(await startOmniwitness(settings)),
  ]
  const policyFile = join(folder, 'policy.txt')
  writeFileSync(policyFile, policyOf(verifierKey, witnesses))
  await killed(exchange.current(), 'SIGTERM')
  await exchange.start({ AEX_WITNESS_POLICY: policyFile })
  const held = cleanup.move()
  return {
    ...trial,
    exchange,
    origin: ORIGIN,
    verifierKey,
    witnesses,
    policyFile,
    parties,
    ledger: [],
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  }
}

function policyOf(verifierKey: string, witnesses: readonly OutsideWitness[]): string {
  return [
    `log ${verifierKey}`,
    ...witnesses.map(({ name, url, verifierKey: key }) => `witness ${name} ${key} ${url}`),
    `group both all ${witnesses.map(({ name }) => name).join(' ')}`,
    'quorum both',
    '',
  ].join('\n')
}

/** Reads tiles over HTTP, as anybody can. */
export function publicTiles({ url }: Exchange): ReadTile {
  return async (name) => {
    const answer = await fetch(`${url}/log/${tilePath(name)}`)
    if (!answer.ok) throw new Error(`${tilePath(name)}: ${answer.status}`)
    return new Uint8Array(await answer.arrayBuffer())
  }
}

/** All entries of the log, in order. */
export async function readEntries(exchange: Exchange, size: number): Promise<Uint8Array[]> {
  const readTile = publicTiles(exchange)
  const entries: Uint8Array[] = []
  for (let index = 0; index * TILE_WIDTH < size; index++) {
    const name = { level: 'entries', index } as const
    const width = tileWidth(name, size)
    entries.push(...decodeBundle(await readTile({ ...name, width }), width))
  }
  if (entries.some(({ length }) => length !== LEAF_LENGTH)) throw new Error('an entry is no leaf')
  return entries
}

/** Runs a command of the operator of this exchange. */
export async function operatorCommand(exchange: Exchange, ...args: string[]): Promise<string> {
  const env = { AEX_DATA_DIR: exchange.dataDirectory, AEX_OPERATOR_URL: exchange.operatorUrl }
  const { code, stdout, stderr } = await runAex(args, { env })
  if (code !== 0) throw new Error(`aex ${args.join(' ')} ended with ${code}\n${stderr}`)
  return stdout
}
