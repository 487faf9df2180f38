import pg from 'pg'
import { lossOr } from './connection-lost.ts'
import { MessageWriter } from './message-writer.ts'
import { PreparedStatements } from './prepared-statements.ts'
import { Segment, TextSegment } from './segment.ts'
import type { Request } from './statement.ts'

export interface ConnectionOptions {
  readonly client: pg.ClientConfig
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>
  readonly hasNamedStatements: boolean
}

/**
 * One connection, which is opened at once and, when it ends, is over. What is sent in one turn of the event loop leaves
 * together, and the next when all of it has been answered.
 */
export class Connection {
  readonly #client: pg.Client
  readonly #out = new MessageWriter()
  readonly #statements: PreparedStatements
  readonly #onEnd: () => void
  #waiting: Request[] = []
  #isReady = false
  #willSend = false
  #lost: unknown

  constructor({ client, settings, hasNamedStatements }: ConnectionOptions, onEnd: () => void) {
    this.#onEnd = onEnd
    this.#statements = new PreparedStatements({ isNamed: hasNamedStatements })
    this.#client = new pg.Client(client)
    // Whoever waits hears of it below.
    this.#client.on('error', (error) => this.#end(error))
    this.#client.once('end', () => this.#end(undefined))
    this.#client.on('drain', () => this.#next())
    this.#send(settingsRequest(settings, (error) => this.#end(error)))
    this.#client.connect((error: Error | null | undefined) => {
      if (error) this.#end(error)
      else this.#next()
    })
  }

  get isLost(): boolean {
    return this.#lost !== undefined
  }

  onNotification(listener: (payload: string) => void): void {
    this.#client.on('notification', ({ payload = '' }) => listener(payload))
  }

  readonly send = (request: Request): void => {
    if (this.#lost) request.reject(this.#lost)
    else this.#send(request)
  }

  /** Says good-bye; whatever is under way fails. */
  async close(): Promise<void> {
    if (!this.#lost) await this.#client.end()
  }

  #send(request: Request): void {
    this.#waiting.push(request)
    if (this.#willSend) return
    this.#willSend = true
    process.nextTick(() => {
      this.#willSend = false
      if (this.#isReady) this.#next()
    })
  }

  /** All that waits, or text by itself. */
  #next(): void {
    this.#isReady = true
    const textAt = this.#waiting.findIndex(({ values }) => values === undefined)
    const count = textAt < 0 ? this.#waiting.length : Math.max(textAt, 1)
    const requests = this.#waiting.splice(0, count)
    const [first] = requests
    if (!first || this.#lost) return
    this.#isReady = false
    const isText = first.values === undefined
    this.#client.query(
      isText ? new TextSegment(first, this.#out) : new Segment(requests, this.#out, this.#statements),
    )
  }

  #end(cause: Error | undefined): void {
    if (this.#lost) return
    this.#lost = lossOr(cause)
    for (const request of this.#waiting.splice(0)) request.reject(this.#lost)
    // It may still be open where the driver has given it up.
    void this.#client.end()
    this.#onEnd()
  }
}

function settingsRequest(settings: ConnectionOptions['settings'], reject: (error: Error) => void): Request {
  const names = Object.keys(settings)
  const calls = names.map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, false)`)
  return {
    text: `select ${calls.join(', ')}`,
    values: Object.entries(settings).flat(),
    resolve: () => undefined,
    reject: (error) => reject(error as Error),
  }
}
