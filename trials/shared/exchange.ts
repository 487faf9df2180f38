import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  callOperator,
  createOrganization,
  freePorts,
  runningClock,
  type World,
} from '@agent-exchange/testkit'
import { addressOf, openDatabase, type SocketTarget } from '@agent-exchange/database'
import { SUPERUSER } from '../../packages/database/src/embedded/cluster.ts'
import { readServerFile, stopServer } from '../../packages/database/src/embedded/leftover-server.ts'
import { processesIn } from '../../packages/database/src/embedded/processes.ts'
import { killed, spawnServe, untilReady, type ServeProcess } from './serve-process.ts'

export interface ExchangeOptions {
  /** PostgreSQL to use instead of the embedded one. */
  readonly databaseUrl?: string
  /** An exchange whose database this process shares. */
  readonly beside?: Exchange
  /** The command of another release. */
  readonly program?: string
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>
}

/** An exchange as an operator runs it: `aex serve` in a process that can be killed and restarted. */
export interface Exchange extends World {
  readonly dataDirectory: string
  /** The current or last process. */
  current(): ServeProcess
  /** The pid of the embedded postmaster. */
  postmaster(): number
  /** Whether the embedded server accepts connections; false during recovery. */
  databaseIsReady(): boolean
  /** All processes of the embedded server. */
  databaseProcesses(): number[]
  /** Restarts `aex serve`, with changed settings or of another release if given; resolves when it is ready. */
  start(change?: Readonly<Record<string, string>>, program?: string): Promise<void>
}

export async function startExchange(options: ExchangeOptions = {}): Promise<Exchange> {
  const { beside } = options
  const databaseUrl = beside ? beside.databaseUrl : options.databaseUrl
  const dataDirectory = mkdtempSync(join(tmpdir(), 'aex-fault-'))
  // As root, PostgreSQL runs as another user.
  chmodSync(dataDirectory, 0o711)
  const cluster = join(dataDirectory, 'postgres', 'cluster')
  const [port, operatorPort] = await freePorts(2)
  const url = `http://127.0.0.1:${port}`
  const operatorUrl = `http://127.0.0.1:${operatorPort}`
  const givenKey = databaseUrl === undefined ? undefined : (beside?.masterKey ?? randomBytes(32))
  let env: Readonly<Record<string, string>> = {
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
    AEX_DATA_DIR: dataDirectory,
    AEX_PUBLIC_URL: beside?.url ?? url,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...(givenKey && { AEX_MASTER_KEY: Buffer.from(givenKey).toString('base64url') }),
    ...options.env,
  }
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  cleanup.defer(() => rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  cleanup.defer(() => (existsSync(cluster) ? stopServer(cluster) : undefined))
  let served = spawnServe(env, options.program)
  cleanup.defer(() => killed(served))
  await untilReady(served, operatorUrl)

  const target = databaseUrl ?? embeddedTarget(dataDirectory)
  const sql = openDatabase({
    target,
    maximumConnections: 2,
    applicationName: 'faults',
  }) as unknown as World['sql']
  cleanup.defer(() => sql.end({ timeout: 1 }))
  const read = (name: string) => readFileSync(join(dataDirectory, name), 'utf8').trim()
  const exchange: Exchange = {
    url,
    operatorUrl,
    clock: beside?.clock ?? runningClock(),
    sql,
    databaseUrl: typeof target === 'string' ? target : addressOf(target),
    masterKey: givenKey ?? Buffer.from(read('master-key'), 'base64url'),
    logged: [],
    dataDirectory,
    operate: beside
      ? beside.operate
      : (method, path, body) => callOperator(operatorUrl, read('operator-token'), method, path, body),
    organization: (name, given = {}) => createOrganization(exchange, name, given),
    current: () => served,
    postmaster: () => readServerFile(cluster).pid,
    databaseIsReady: () => readServerFile(cluster).isReady,
    databaseProcesses: () => processesIn(cluster),
    start: async (change = {}, program = options.program) => {
      env = { ...env, ...change }
      served = spawnServe(env, program)
      await untilReady(served, operatorUrl)
    },
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
  const release = undo.move()
  return exchange
}

/** Connects as superuser, because trials inspect everything. */
function embeddedTarget(dataDirectory: string): SocketTarget {
  return {
    socketDirectory: join(dataDirectory, 'postgres', 'run'),
    port: 5432,
    user: SUPERUSER,
    password: readFileSync(join(dataDirectory, 'postgres-password'), 'utf8').trim(),
    database: 'agent_exchange',
  }
}
