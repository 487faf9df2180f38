import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { PRIVATE_KEY, PUBLIC_KEY, type KeyVault } from './key-vault.ts'

const START_MS = 180_000
const STOP_MS = 10_000
const PATIENCE_MS = 5_000
const STEP_MS = 100
/** Log line of a runtime that failed to start and does not exit. */
const BOOT_FAILURE = 'Error booting runtime'
const LOWEST_PORT = 20_000
const PORT_RANGE = 10_000
const PORT_ATTEMPTS = 50

/** How many listeners a runtime has. */
export const LISTENERS = 6

export interface EdcRuntime extends AsyncDisposable {
  readonly participantId: string
  readonly apiKey: string
  readonly managementUrl: string
  readonly protocolEndpoint: string
  readonly versionUrl: string
}

/** One real connector, control plane and data plane in one JVM, on loopback. */
export async function startRuntime(options: {
  participantId: string
  jars: string
  folder: string
  vault: KeyVault
  ports: readonly number[]
}): Promise<EdcRuntime> {
  const { participantId, jars, folder, vault, ports } = options
  const apiKey = `key-of-${participantId}`
  const [web, management, protocol, control, version, open] = ports.map((port) => `http://127.0.0.1:${port}`)
  const settings = {
    'edc.participant.id': participantId,
    'edc.component.id': `${participantId}-component`,
    'edc.hostname': '127.0.0.1',
    'edc.dsp.callback.address': `${protocol}/protocol`,
    'edc.dataplane.api.public.baseurl': `${open}/public`,
    'edc.control.endpoint': `${control}/control`,
    ...listener('', ports[0], '/api'),
    ...listener('management.', ports[1], '/management'),
    'web.http.management.auth.type': 'tokenbased',
    'web.http.management.auth.key': apiKey,
    ...listener('protocol.', ports[2], '/protocol'),
    ...listener('control.', ports[3], '/control'),
    ...listener('version.', ports[4], '/version'),
    ...listener('public.', ports[5], '/public'),
    // From 0.14 on a policy whose condition has no function is refused; this one has none for participants.
    'edc.policy.validation.enabled': 'false',
    'edc.transfer.proxy.token.signer.privatekey.alias': PRIVATE_KEY,
    'edc.transfer.proxy.token.verifier.publickey.alias': PUBLIC_KEY,
    'edc.vault.hashicorp.url': vault.url,
    'edc.vault.hashicorp.token': vault.token,
    'edc.vault.hashicorp.health.check.enabled': 'false',
    'edc.vault.hashicorp.token.scheduled-renew-enabled': 'false',
    ...Object.fromEntries(
      STATE_MACHINES.map((name) => [`${name}.state-machine.iteration-wait-millis`, STEP_MS]),
    ),
  }
  const file = join(folder, `${participantId}.properties`)
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  const log = join(folder, `${participantId}.log`)
  const child = launch(jars, file, log)
  try {
    await ready(
      child,
      log,
      async () =>
        (await answers(`${web}/api/check/readiness`)) && hasDataPlane(`${management}/management`, apiKey),
    )
  } catch (error) {
    await stop(child)
    throw error
  }
  return {
    participantId,
    apiKey,
    managementUrl: `${management}/management`,
    protocolEndpoint: `${protocol}/protocol`,
    versionUrl: `${version}/version/v1/version`,
    [Symbol.asyncDispose]: () => stop(child),
  }
}

/** Interval of the state machines; EDC's default is a second. */
const STATE_MACHINES = [
  'edc.negotiation.consumer',
  'edc.negotiation.provider',
  'edc.transfer',
  'edc.dataplane',
  'edc.data.plane.selector',
]

function listener(context: string, port: number | undefined, path: string) {
  return { [`web.http.${context}port`]: port, [`web.http.${context}path`]: path }
}

function launch(jars: string, properties: string, log: string): ChildProcess {
  const heap = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC']
  const main = ['-cp', join(jars, '*'), 'org.eclipse.edc.boot.system.runtime.BaseRuntime']
  const child = spawn('java', [...heap, `-Dedc.fs.config=${properties}`, ...main], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const sink = createWriteStream(log)
  child.stdout?.pipe(sink)
  child.stderr?.pipe(sink)
  // No JVM survives this program.
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function ready(child: ChildProcess, log: string, isReady: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + START_MS
  let said = ''
  while (Date.now() < end && child.exitCode === null && !said.includes(BOOT_FAILURE)) {
    if (await isReady().catch(() => false)) return
    await delay(250)
    said = await readFile(log, 'utf8').catch(() => '')
  }
  throw new Error(`The connector did not start. The end of its log:\n${said.slice(-2_000)}`)
}

async function answers(url: string): Promise<boolean> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })
  await answer.body?.cancel()
  return answer.status === 200
}

/** Its readiness check answers before its APIs do, and its data plane registers itself after that. */
async function hasDataPlane(managementUrl: string, apiKey: string): Promise<boolean> {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const answer = await fetch(`${managementUrl}/v3/dataplanes`, { headers: { 'x-api-key': apiKey }, signal })
  return answer.status === 200 && (await answer.text()).includes('"AVAILABLE"')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await gone
  clearTimeout(timer)
}

/**
 * Ports that nobody listens on, below those that systems hand out by themselves: between this look and the start of
 * the connector no other program is given one of them.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    const first = LOWEST_PORT + Math.floor((Math.random() * PORT_RANGE) / count) * count
    const ports = Array.from({ length: count }, (_, i) => first + i)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports
  }
  throw new Error('There are no free ports for the connectors.')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
  if (listening) await new Promise((resolve) => server.close(resolve))
  return listening
}
