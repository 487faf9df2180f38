import pg from 'pg'
import { CONNECT_LIMIT_MS, HOST_LIMIT_MS } from './connection-limits.ts'
import type { ConnectionOptions } from './database-address.ts'
import { ConnectionLost, lossOr, sqlState } from './database-errors.ts'
import { Pipeline, type PreparedStatements, type Request } from './pipeline.ts'
import {
  queriesOver,
  settingCalls,
  settingStatement,
  type Answer,
  type Send,
  type Statement,
} from './queries.ts'
import { valueTypes } from './value-types.ts'

/** A server that does not confirm the end of the connection within this time is not waited for. */
const CLOSE_LIMIT_MS = 1_000
/** More than the service has. Limits the memory that generated statements take on the server. */
const MAXIMUM_PREPARED = 400
/** invalid_authorization_specification: as in libpq, no other host is tried after a refused login. */
const LOGIN_REFUSED = '28'

/**
 * One connection; once lost, it is never used again. Statements of one turn of the event loop are sent as one pipeline;
 * the next pipeline is sent when all of them are answered.
 */
export class Connection extends pg.Client {
  /** Sent at the beginning of each transaction, also of one that is a single statement. */
  readonly transactionSettings: Statement | undefined
  readonly #prepared: PreparedStatements | undefined
  readonly #answerLimit: NodeJS.Timeout | undefined
  #waiting: Request[] = []
  #isBusy = false
  #willFlush = false
  #lost: unknown

  constructor(config: pg.ClientConfig, options: Omit<ConnectionOptions, 'hosts' | 'client'>) {
    const { hasNamedStatements, answerLimitMs, transactionSettings } = options
    super({ ...config, types: valueTypes })
    this.#prepared = hasNamedStatements ? new Map() : undefined
    this.transactionSettings = transactionSettings && settingStatement(transactionSettings)
    if (answerLimitMs !== undefined)
      this.#answerLimit = setTimeout(() => this.#endUnanswered(), answerLimitMs).unref()
    this.on('error', (error) => this.#lose(error))
    this.on('end', () => this.#lose(undefined))
    this.on('drain', () => {
      this.#isBusy = false
      this.#flush()
    })
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  readonly send: Send = (write) =>
    new Promise<Answer>((resolve, reject) => {
      if (this.isLost) throw this.#lost
      this.#waiting.push({ statement: write(), resolve, reject })
      if (this.#willFlush) return
      this.#willFlush = true
      process.nextTick(() => {
        this.#willFlush = false
        this.#flush()
      })
    })

  readonly sql = queriesOver(this.send)

  /** Ends the connection; statements in progress fail. */
  override async end(): Promise<void> {
    this.#lose(undefined)
    const limit = setTimeout(() => this.connection.stream.destroy(), CLOSE_LIMIT_MS)
    await super.end()
    clearTimeout(limit)
  }

  #flush(): void {
    if (this.isLost || this.#isBusy || this.#waiting.length === 0) return
    this.#isBusy = true
    this.#answerLimit?.refresh()
    if (this.#prepared && this.#prepared.size >= MAXIMUM_PREPARED) {
      this.#prepared.clear()
      const statement = { text: 'deallocate all', values: undefined }
      this.#waiting.unshift({ statement, resolve: () => undefined, reject: () => undefined })
    }
    const textAt = this.#waiting.findIndex(({ statement }) => statement.values === undefined)
    const requests = this.#waiting.splice(0, textAt < 0 ? this.#waiting.length : Math.max(textAt, 1))
    if (textAt === 0) return requests.forEach((request) => this.#sendText(request))
    try {
      this.query(new Pipeline(requests, this.#prepared))
    } catch (error) {
      // It is unknown how much was written: nothing after it may be executed, a commit least of all.
      for (const { reject } of requests) reject(error)
      this.connection.stream.destroy()
      this.#lose(error)
    }
  }

  /** Uses the simple query protocol. The answer is that of the last statement in the text. */
  #sendText({ statement, resolve, reject }: Request): void {
    this.query(statement.text).then(
      (results) => {
        const { rows, rowCount, command } = [results].flat().at(-1) as pg.QueryResult
        resolve(Object.assign(rows, { count: rowCount ?? 0, command }))
      },
      (error: unknown) => reject(lossOr(error)),
    )
  }

  /** The timer restarts with each pipeline, so it also expires on an idle connection. */
  #endUnanswered(): void {
    if (this.#isBusy)
      this.connection.stream.destroy(
        new ConnectionLost('the database did not answer in time', 'ANSWER_TIMEOUT'),
      )
  }

  #lose(error: unknown): void {
    clearTimeout(this.#answerLimit)
    this.#lost ??= lossOr(error)
    for (const { reject } of this.#waiting.splice(0)) reject(this.#lost)
  }
}

/** Opens a session on the first host that answers and has the required role. */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { client, known } = options
  const hosts = hostsInOrder(options)
  let failure: unknown
  for (const host of hosts) {
    const connection = new Connection({ ...client, ...host }, options)
    const late = new ConnectionLost('the database did not answer in time', 'CONNECT_TIMEOUT')
    const limit = setTimeout(
      () => connection.connection.stream.destroy(late),
      Math.min(HOST_LIMIT_MS, CONNECT_LIMIT_MS / hosts.length),
    )
    try {
      await startSession(connection, options)
      known.found = host
      if (known.hung === host) known.hung = undefined
      return connection
    } catch (error) {
      failure = error
      void connection.end()
      if (sqlState(error)?.startsWith(LOGIN_REFUSED)) break
    } finally {
      clearTimeout(limit)
    }
  }
  throw lossOr(failure)
}

function hostsInOrder({ hosts, role, known: { found, hung } }: ConnectionOptions) {
  if (role === 'any') return hosts
  const rank = (host: unknown) => (host === found ? 0 : host === hung ? 2 : 1)
  return hosts.toSorted((one, other) => rank(one) - rank(other))
}

/** Settings are a statement, not startup parameters: PgBouncer refuses unknown startup parameters. */
async function startSession(client: pg.Client, { settings, role }: ConnectionOptions): Promise<void> {
  await client.connect()
  const { rows } = await client.query<{ standby: boolean }>(
    `select pg_is_in_recovery() as standby, ${settingCalls(settings, false)}`,
  )
  const found = rows[0]?.standby === true ? 'standby' : 'primary'
  if (role !== 'any' && role !== found)
    throw new ConnectionLost(`the database is a ${found} and not a ${role}`, 'WRONG_SESSION_ROLE')
}
