import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatVerifierKey, parseVerifierKey } from '@agent-exchange/log'
import type { Exchange } from '../shared/exchange.ts'
import { run } from '../shared/programs.ts'
import type { Judges } from './go-judges.ts'

const POLL_MS = 100
const STATE_LIMIT_MS = 60_000
const FSCK_MS = 60_000

/** Checkpoints every 200 ms, so that a hundred of them take less than a minute. */
export function writeProfile(folder: string, origin: string, settings: object = {}): string {
  const path = join(folder, `${origin.replace(/\W/gu, '-')}.json`)
  const transparency = {
    transparency_origin: origin,
    transparency_checkpoint_milliseconds: 200,
    transparency_sequence_milliseconds: 50,
    ...settings,
  }
  writeFileSync(path, JSON.stringify({ 'O-07': transparency, 'O-08': { access_token_seconds: 3_600 } }))
  return path
}

export interface LogStatus {
  readonly state: string
  readonly size: number
  readonly published_size: number
  readonly pending_leaves: number
  readonly sequencer: string | null
  readonly refusal?: { readonly reason: string; readonly known_size?: number; readonly witness?: string }
  readonly what_to_do?: string
  readonly witnesses: readonly { readonly name: string; readonly outcome: string }[]
}

export async function logStatus(exchange: Exchange): Promise<LogStatus> {
  return (await exchange.operate('GET', '/transparency-log')).body as unknown as LogStatus
}

/** Polls the status of the log until it is as wanted. */
export async function statusWhen(
  exchange: Exchange,
  isThere: (status: LogStatus) => boolean,
): Promise<LogStatus> {
  for (let waited = 0; ; waited += POLL_MS) {
    const status = await logStatus(exchange)
    if (isThere(status)) return status
    if (waited > STATE_LIMIT_MS) throw new Error(`the log stayed at ${JSON.stringify(status)}`)
    await sleep(POLL_MS)
  }
}

/** Everything that was accepted is in the published checkpoint. */
export const isPublished = ({ state, pending_leaves, size, published_size }: LogStatus): boolean =>
  state === 'running' && pending_leaves === 0 && size === published_size

/** The verifier key of the log, as a party reads it. */
export async function verifierKeyOf(exchange: Exchange, token: string): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = (await (await fetch(`${exchange.url}/log/key`, { headers })).json()) as {
    verifier_keys: [string]
  }
  return formatVerifierKey(parseVerifierKey(answer.verifier_keys[0]))
}

interface FsckSettings {
  readonly judges: Judges
  readonly folder: string
  readonly url: string
  readonly verifierKey: string
  readonly token?: string
}

/** tessera's fsck exits with 0 even if it finds a fault, so its words decide. */
export async function fsck({ judges, folder, url, verifierKey, token }: FsckSettings) {
  const keyFile = join(folder, 'log.vkey')
  writeFileSync(keyFile, verifierKey)
  const args = [`--storage_url=${url}`, `--public_key=${keyFile}`, '--ui=false', '-N=4']
  const { output } = await run(judges.fsck, token ? [...args, `--bearer_token=${token}`] : args, {
    limitMs: FSCK_MS,
  })
  return { isSound: output.includes("Successfully fsck'd"), output }
}
