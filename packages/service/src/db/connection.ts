import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { ConnectionOptions } from './database-address.ts'
import { ConnectionLost, lossOr, sqlState } from './database-errors.ts'
import { Pipeline, type PreparedStatements, type Request } from './pipeline.ts'
import { queriesOver, settingCalls, type Answer, type Send } from './queries.ts'
import { valueTypes } from './value-types.ts'

/** For all hosts together, until the session can be used. */
const CONNECT_LIMIT_MS = 10_000
/** A server that does not confirm the end of the connection within this time is not waited for. */
const CLOSE_LIMIT_MS = 1_000
/** More than the service has. Limits the memory that generated statements take on the server. */
const MAXIMUM_PREPARED = 400
/** invalid_authorization_specification: as in libpq, no other host is tried after a refused login. */
const LOGIN_REFUSED = '28'

const ignore = () => undefined

/**
 * One connection; once lost, it is never used again. Statements of one turn of the event loop are sent as one pipeline;
 * the next pipeline is sent when all of them are answered. Has the methods that pg.Pool expects of a client.
 */
export class Connection extends EventEmitter<{ end: []; error: [unknown]; notification: [string] }> {
  readonly #options: ConnectionOptions
  readonly #prepared: PreparedStatements = new Map()
  #client: pg.Client | undefined
  #waiting: Request[] = []
  #isBusy = false
  #willFlush = false
  #lost: unknown

  constructor(options: ConnectionOptions) {
    super()
    this.#options = options
    // Statements report the loss. Without a listener, the event would end the process.
    this.on('error', ignore)
  }

  connect(callback?: (error?: unknown) => void): Promise<void> {
    const connected = this.#connect()
    if (callback) connected.then(() => callback(), callback)
    return connected
  }

  async #connect(): Promise<void> {
    try {
      const client = await openClient(this.#options)
      this.#client = client
      client.on('error', (error) => this.#lose(error))
      client.once('end', () => this.#lose(new Error('the connection ended')))
      client.on('notification', ({ payload = '' }) => this.emit('notification', payload))
      client.on('drain', () => {
        this.#isBusy = false
        this.#flush()
      })
    } catch (error) {
      this.#lose(error)
    }
    if (!this.isLost) return
    void this.#client?.end()
    throw this.#lost
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /** pg.Pool keeps a connection only if this is true. */
  get _queryable(): boolean {
    return !this.isLost
  }

  isConnected(): boolean {
    return this.#client !== undefined
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

  readonly query = queriesOver(this.send)

  /** Ends the connection; statements in progress fail. */
  end(callback: () => void = ignore): void {
    const client = this.#client
    this.#lose(undefined)
    if (!client) return callback()
    const limit = setTimeout(() => client.connection.stream.destroy(), CLOSE_LIMIT_MS)
    client.end(() => {
      clearTimeout(limit)
      callback()
    })
  }

  #flush(): void {
    const client = this.#client
    if (!client || this.#isBusy || this.#waiting.length === 0) return
    this.#isBusy = true
    if (this.#prepared.size >= MAXIMUM_PREPARED) {
      this.#prepared.clear()
      const statement = { text: 'deallocate all', values: undefined }
      this.#waiting.unshift({ statement, resolve: ignore, reject: ignore })
    }
    const textAt = this.#waiting.findIndex(({ statement }) => statement.values === undefined)
    const requests = this.#waiting.splice(0, textAt < 0 ? this.#waiting.length : Math.max(textAt, 1))
    if (textAt === 0) return requests.forEach((request) => sendText(client, request))
    try {
      client.query(new Pipeline(requests, this.#options.hasNamedStatements ? this.#prepared : undefined))
    } catch (error) {
      // It is unknown how much was written: nothing after it may be executed, a commit least of all.
      for (const { reject } of requests) reject(error)
      client.connection.stream.destroy()
      this.#lose(error)
    }
  }

  /** Without an error: on purpose. */
  #lose(error: unknown): void {
    if (this.isLost) return
    this.#lost = lossOr(error)
    for (const { reject } of this.#waiting.splice(0)) reject(this.#lost)
    if (error !== undefined) this.emit('error', this.#lost)
    this.emit('end')
  }
}

/** Uses the simple query protocol. The answer is that of the last statement in the text. */
function sendText(client: pg.Client, { statement, resolve, reject }: Request): void {
  client.query(statement.text).then(
    (results) => {
      const { rows, rowCount, command } = [results].flat().at(-1) as pg.QueryResult
      resolve(Object.assign(rows, { count: rowCount ?? 0, command }))
    },
    (error: unknown) => reject(lossOr(error)),
  )
}

/** A session on the first host that answers and has the required role. */
async function openClient(options: ConnectionOptions): Promise<pg.Client> {
  const { hosts } = options
  let failure: unknown
  for (const host of hosts) {
    const client = new pg.Client({ ...options.client, ...host, types: valueTypes })
    // Its statements report the error. Without a listener, the event would end the process.
    client.on('error', ignore)
    const late = new ConnectionLost('the database did not answer in time', 'CONNECT_TIMEOUT')
    const limit = setTimeout(() => client.connection.stream.destroy(late), CONNECT_LIMIT_MS / hosts.length)
    try {
      await startSession(client, options)
      return client
    } catch (error) {
      failure = error
      void client.end()
      if (sqlState(error)?.startsWith(LOGIN_REFUSED)) break
    } finally {
      clearTimeout(limit)
    }
  }
  throw failure
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
