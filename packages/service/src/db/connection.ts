import { EventEmitter } from 'node:events'
import type pg from 'pg'
import { lossOr } from './connection-lost.ts'
import type { ConnectionOptions } from './database-address.ts'
import { INDEX_PLANS } from './index-plans.ts'
import { openClient } from './open-client.ts'
import { Pipeline, type PreparedStatements, type Request } from './pipeline.ts'
import { queriesOver, type Answer, type Send } from './queries.ts'

/** A server that does not confirm the end of the connection within this time is not waited for. */
const CLOSE_LIMIT_MS = 1_000
/** More than the service has. Generated texts must not fill the server's memory. */
const MAXIMUM_PREPARED = 400

/**
 * One connection; once lost, it is never used again. Statements of one turn of the event loop leave as one pipeline,
 * and the next pipeline when all of them are answered. Its methods are those that pg's pool expects of a client.
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
    this.on('error', () => undefined)
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

  /** pg's pool keeps a connection only where this is true. */
  get _queryable(): boolean {
    return !this.isLost
  }

  isConnected(): boolean {
    return this.#client !== undefined
  }

  readonly send: Send = (write) =>
    new Promise<Answer>((resolve, reject) => {
      if (this.isLost) throw this.#lost
      const statement = write()
      if (statement.isByIndex) this.#waiting.push({ ...unheard, statement: INDEX_PLANS })
      this.#waiting.push({ statement, resolve, reject })
      if (this.#willFlush) return
      this.#willFlush = true
      process.nextTick(() => {
        this.#willFlush = false
        this.#flush()
      })
    })

  readonly query = queriesOver(this.send)

  /** Ends the connection; statements under way fail. */
  end(callback: () => void = () => undefined): void {
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
      this.#waiting.unshift({ ...unheard, statement: { text: 'deallocate all', values: undefined } })
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

const unheard = { resolve: () => undefined, reject: () => undefined }

/** By the simple query protocol. The answer is that of the last statement in the text. */
function sendText(client: pg.Client, { statement, resolve, reject }: Request): void {
  client.query(statement.text).then(
    (results) => {
      const { rows, rowCount, command } = [results].flat().at(-1) as pg.QueryResult
      resolve(Object.assign(rows, { count: rowCount ?? 0, command }))
    },
    (error: unknown) => reject(lossOr(error)),
  )
}
