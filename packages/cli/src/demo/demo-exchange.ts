import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { startService } from '@agent-exchange/service'
import { addressOf, openDatabase, startEmbedded, type Database } from '@agent-exchange/service/database'
import { pino } from 'pino'
import { CommandFailure } from '../failure.ts'

/** Nobody waits ten seconds for the proof at the end of a demo. */
const QUICK_LOG = {
  ...DEFAULT_PROFILE,
  'O-07': { ...DEFAULT_PROFILE['O-07'], transparency_checkpoint_milliseconds: 500 },
}

/** The exchange of the demo: a service with its own database, in a temporary folder. */
export interface DemoExchange extends AsyncDisposable {
  readonly url: string
  readonly operatorUrl: string
  readonly operatorToken: string
  /** Everything that the exchange keeps on disk, its database too. */
  readonly folders: readonly string[]
  /** What it keeps in its database. */
  readonly database: Database
  /** Lines that it logged. */
  readonly logged: readonly string[]
  /** A request of its operator. */
  operate(path: string, body: object): Promise<Record<string, unknown>>
}

const HOST = '127.0.0.1'

/** `receiverCa` is the certificate authority of the companies' webhook receivers. */
export async function startDemoExchange(folder: string, receiverCa: string): Promise<DemoExchange> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const dataDirectory = join(folder, 'exchange')
  mkdirSync(dataDirectory, { recursive: true })
  const embedded = cleanup.use(await startEmbedded({ dataDirectory, log: () => undefined }))
  const databaseUrl = addressOf(embedded.connection)
  const [port, operatorPort] = [await freePort(), await freePort()]
  const logged: string[] = []
  const service = cleanup.use(
    await startService(
      {
        host: HOST,
        port,
        operatorHost: HOST,
        operatorPort,
        publicUrl: `http://${HOST}:${port}`,
        dataDirectory,
        databaseUrl,
        databaseReadUrl: undefined,
        databaseDirectUrl: undefined,
        tls: undefined,
        trustedProxies: [],
        issuer: undefined,
        profile: QUICK_LOG,
        webhook: { ca: receiverCa, allowPrivate: true },
        role: 'all',
        workers: 1,
        createsFirstOperator: true,
        masterKey: crypto.getRandomValues(new Uint8Array(32)),
        smtp: undefined,
        logLevel: 'info',
        operatorPublicUrl: undefined,
        operatorSignOn: undefined,
        witnesses: [],
        tracing: undefined,
      },
      { log: pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }) },
    ),
  )
  const database = openDatabase({
    target: databaseUrl,
    maximumConnections: 1,
    applicationName: 'agent-exchange-demo',
  })
  cleanup.defer(() => database.end({ timeout: 1 }))
  const operatorToken = readFileSync(service.operatorTokenFile, 'utf8').trim()
  const operatorUrl = service.urls.operator
  const stop = undo.move()
  return {
    url: `http://${HOST}:${port}`,
    operatorUrl,
    operatorToken,
    folders: [...new Set([dataDirectory, embedded.location])],
    database,
    logged,
    operate: (path, body) => operate(`${operatorUrl}/operator/v1${path}`, operatorToken, body),
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}

async function operate(url: string, token: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'x-correlation-id': randomUUID(),
    },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new CommandFailure(`The demo's operator was refused: ${String(answer['title'])}.`)
  return answer
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
