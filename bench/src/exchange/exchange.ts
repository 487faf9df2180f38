import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  callOperator,
  createOrganization,
  freePorts,
  runningClock,
  type World,
} from '@agent-exchange/testkit'
import { serve, type Served } from '../processes/serve.ts'
import { plainDriver } from '../reference/plain-driver.ts'
import { operateByCommand } from './operator-command.ts'
import { urlOf, type DatabaseTarget } from './postgres-server.ts'

type Environment = Readonly<Record<string, string>>

/** An exchange as an operator runs it: one `aex serve`, and more processes on request. */
export interface Exchange extends AsyncDisposable {
  readonly database: DatabaseTarget
  readonly service: Served
  /** The same exchange as a world of the testkit. */
  readonly world: World
  /** Another process of the same exchange, disposed by its caller. */
  serve(name: string, env?: Environment, scheme?: 'http' | 'https'): Promise<Served>
}

export interface ExchangeOptions {
  readonly name: string
  readonly database: DatabaseTarget
  /** For data folders and logs. */
  readonly folder: string
  readonly env: Environment
  /**
   * The command `aex` of the revision to start. It also creates the organizations, because its options are part of the
   * public contract and the operator API is not.
   */
  readonly program?: string | undefined
}

export async function startExchange({
  name,
  database,
  folder,
  env,
  program,
}: ExchangeOptions): Promise<Exchange> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const masterKey = randomBytes(32)
  const start: Exchange['serve'] = async (part, more = {}, scheme = 'http') => {
    const [port, operatorPort] = await freePorts(2)
    const url = `${scheme}://127.0.0.1:${port}`
    const operatorUrl = `${scheme}://127.0.0.1:${operatorPort}`
    const own = {
      DATABASE_URL: urlOf(database),
      AEX_MASTER_KEY: masterKey.toString('hex'),
      AEX_PORT: String(port),
      AEX_OPERATOR_PORT: String(operatorPort),
      AEX_PUBLIC_URL: url,
      AEX_DATA_DIR: join(folder, `${name}-${part}`),
    }
    const logFile = join(folder, `${name}-${part}.log`)
    return serve({ program, url, operatorUrl, env: { ...env, ...own, ...more }, logFile })
  }
  const service = cleanup.use(await start('service'))
  const sql = plainDriver(database, 4)
  cleanup.defer(() => sql.end({ timeout: 1 }))
  const token = readFileSync(join(folder, `${name}-service`, 'operator-token'), 'utf8').trim()
  const world: World = {
    url: service.url,
    operatorUrl: service.operatorUrl,
    clock: runningClock(),
    sql,
    databaseUrl: urlOf(database),
    masterKey,
    logged: [],
    operate: program
      ? operateByCommand({ program, operatorUrl: service.operatorUrl, token, folder })
      : (method, path, body) => callOperator(service.operatorUrl, token, method, path, body),
    organization: (prefix, options = {}) => createOrganization(world, prefix, options),
    [Symbol.asyncDispose]: async () => undefined,
  }
  const release = undo.move()
  return { database, service, world, serve: start, [Symbol.asyncDispose]: () => release.disposeAsync() }
}
