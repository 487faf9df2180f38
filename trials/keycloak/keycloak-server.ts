import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Identity } from '@agent-exchange/testkit'
import { CACHE, fetched, mustRun, requireProgram } from '../shared/programs.ts'

const VERSION = '26.5.6'
const DISTRIBUTION = {
  name: `keycloak-quarkus-dist-${VERSION}.zip`,
  url: `https://repo1.maven.org/maven2/org/keycloak/keycloak-quarkus-dist/${VERSION}/keycloak-quarkus-dist-${VERSION}.zip`,
  sha256: '490189d9dff05272432d51f71a069462eeca97f2920a694d539a1e6c26a5a347',
}
/** Build options. The build is cached with the distribution. */
const BUILT_WITH = ['--db=dev-mem', '--https-client-auth=request']
/** Enough for a machine that is busy with other tests. */
const BUILD_MS = 300_000
const COMPLETE = 'complete'
const READY_MS = 240_000
const POLL_MS = 250
const MAXIMUM_OUTPUT = 20_000
const HEAP = '-Xms64m -Xmx512m'

export const ADMIN = { username: 'admin', password: 'only-on-loopback' } as const

export interface Keycloak extends AsyncDisposable {
  readonly url: string
  /** Stops the process without closing its connections, as a machine that hangs does. */
  pause(): void
  resume(): void
  kill(): Promise<void>
}

/** Downloads and builds Keycloak once; returns its folder. */
export async function installKeycloak(): Promise<string> {
  requireProgram('java', '-version')
  requireProgram('jar', '--version')
  const folder = join(CACHE, `keycloak-${VERSION}`)
  const home = join(folder, `keycloak-${VERSION}`)
  if (existsSync(join(folder, COMPLETE))) return home
  // An incomplete installation is replaced.
  rmSync(folder, { recursive: true, force: true })
  const archive = await fetched(DISTRIBUTION)
  mkdirSync(folder, { recursive: true })
  await mustRun('jar', ['xf', archive], { cwd: folder, limitMs: BUILD_MS })
  await mustRun('bash', [join(home, 'bin/kc.sh'), 'build', ...BUILT_WITH], { cwd: home, limitMs: BUILD_MS })
  writeFileSync(join(folder, COMPLETE), '')
  return home
}

/** Starts Keycloak in production mode on loopback with its own certificate, and asks clients for theirs. */
export async function startKeycloak(
  home: string,
  given: {
    readonly folder: string
    readonly port: number
    readonly identity: Identity
    readonly clientCa: string
  },
): Promise<Keycloak> {
  const url = `https://127.0.0.1:${given.port}`
  const file = (name: string, content: string) => {
    const path = join(given.folder, name)
    writeFileSync(path, content, { mode: 0o600 })
    return path
  }
  const args = [
    'start',
    '--optimized',
    '--cache=local',
    `--hostname=${url}`,
    '--http-host=127.0.0.1',
    `--https-port=${given.port}`,
    `--https-certificate-file=${file('keycloak.pem', given.identity.certificate)}`,
    `--https-certificate-key-file=${file('keycloak-key.pem', given.identity.key)}`,
    `--truststore-paths=${file('client-ca.pem', given.clientCa)}`,
  ]
  const child = spawn('bash', [join(home, 'bin/kc.sh'), ...args], {
    cwd: home,
    env: {
      ...process.env,
      JAVA_OPTS_KC_HEAP: HEAP,
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own: the script starts Java as another process.
    detached: true,
  })
  const signal = (name: NodeJS.Signals) => signalGroup(child, name)
  const onExit = () => signal('SIGKILL')
  process.once('exit', onExit)
  const ended = once(child, 'close').finally(() => process.removeListener('exit', onExit))
  const kill = async () => {
    signal('SIGKILL')
    await ended
  }
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-MAXIMUM_OUTPUT)))
  for (let waited = 0; !(await isReady(url)); waited += POLL_MS) {
    if (child.exitCode !== null || waited > READY_MS) {
      await kill()
      throw new Error(`Keycloak did not start\n${output}`)
    }
    await sleep(POLL_MS)
  }
  return {
    url,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/realms/master`, { signal: AbortSignal.timeout(2_000) }).catch(
    () => undefined,
  )
  await answer?.body?.cancel()
  return answer?.status === 200
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // The group has ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
