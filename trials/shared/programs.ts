import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { endsWithUs } from './child-processes.ts'
import { Skipped } from './report.ts'

/** Tools are cached here between runs, outside the repository. */
export const CACHE = join(
  process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
  'agent-exchange-outside',
)

const DOWNLOAD_MS = 120_000
const MAXIMUM_SHOWN = 6_000
/** What npm, pip, Go and Maven say where a registry does not answer. */
const OFFLINE = new RegExp(
  [
    'ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|E50[0-9]',
    'NewConnectionError|No matching distribution|Could not find a version',
    'dial tcp|no such host|i/o timeout|handshake timeout|403 Forbidden|50[234] [BGS]',
    'Could not transfer|Unknown ?Host|Connection (?:refused|timed out)|Network is unreachable|Connect to ',
  ].join('|'),
  'u',
)

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** The program is killed after this time. */
  readonly limitMs: number
}

export interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs a program and collects both output streams. It is killed after `limitMs`. */
export function run(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const child = endsWithUs(
    spawn(program, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const timer = setTimeout(() => {
    output += `\n${program} took longer than ${options.limitMs / 1_000} s and was ended\n`
    child.kill('SIGKILL')
  }, options.limitMs)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

/** Like `run`, but throws if the program fails. */
export async function mustRun(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  const { code, output } = await run(program, args, options)
  if (code !== 0)
    throw new Error(`${program} ${args[0] ?? ''} ended with ${code}\n${output.slice(-MAXIMUM_SHOWN)}`)
  return output
}

/** Like `mustRun`, for downloads: throws `Skipped` if a registry cannot be reached. */
export async function mustFetch(what: string, program: string, args: readonly string[], options: RunOptions) {
  const { code, output } = await run(program, args, options)
  if (code === 0) return output
  if (OFFLINE.test(output)) throw new Skipped(`the registry of ${what} cannot be reached`)
  throw new Error(`${program} ended with ${code}\n${output.slice(-MAXIMUM_SHOWN)}`)
}

export function requireProgram(name: string, ...probe: string[]): void {
  if (spawnSync(name, probe).status !== 0) throw new Skipped(`${name} is not installed`)
}

export interface Artifact {
  readonly name: string
  readonly url: string
  readonly sha256: string
}

/** Downloads a file once and checks its digest. */
export async function fetched({ name, url, sha256 }: Artifact): Promise<string> {
  const path = join(CACHE, name)
  if (existsSync(path) && digestOf(readFileSync(path)) === sha256) return path
  const bytes = await download(url)
  if (digestOf(bytes) !== sha256) throw new Error(`${url} has an unexpected digest`)
  mkdirSync(CACHE, { recursive: true })
  const partial = `${path}.${process.pid}`
  writeFileSync(partial, bytes)
  renameSync(partial, path)
  return path
}

async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_MS) }).catch((error: unknown) => {
    throw new Skipped(`${new URL(url).host} cannot be reached`, { cause: error })
  })
  if (!response.ok)
    throw new Skipped(`${new URL(url).host} cannot be reached: it answered ${response.status}`)
  return Buffer.from(await response.arrayBuffer())
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
