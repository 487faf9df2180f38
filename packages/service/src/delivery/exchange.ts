import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Dispatcher } from 'undici'
import { ConnectionFailure, errorClassOf } from './connection-failure.ts'
import type { AttemptResult, ErrorClass } from './judge.ts'
import { MAXIMUM_ANSWER_BYTES } from './limits.ts'

/** The socket that a client has just now; another after each reconnect. */
export interface Connection {
  socket: TLSSocket | undefined
}

export interface Exchanged {
  /** Undefined: nothing has left, and somebody asked to stop. The attempt was none. */
  readonly result: AttemptResult | undefined
  /** Whether a byte of the request may have left. */
  readonly hasStarted: boolean
}

type Ended = Exchanged & { readonly failure: unknown }

/** One request and its answer, as undici reports them. The first thing that decides the result ends it. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly done: Promise<Ended>
  connection: Connection | undefined
  readonly #settle: (ended: Ended) => void
  #controller: Dispatcher.DispatchController | undefined
  #answer: AttemptResult | undefined
  #isOver = false
  #bytes = 0

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Ended>()
    this.done = promise
    this.#settle = resolve
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('the attempt is over'))
    else this.#controller = controller
  }

  onRequestUpgrade(): void {
    this.end('protocol', 'the receiver changed the protocol')
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // 1xx announce an answer and are none.
    if (status < 200) return
    this.#answer = { kind: 'answer', status, retryAfter: headers['retry-after'] }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAXIMUM_ANSWER_BYTES) this.end('protocol', 'the answer is too long')
  }

  onResponseEnd(): void {
    this.#finish(undefined)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error)
  }

  fail(error: unknown): void {
    this.#finish(error)
  }

  /** Ends it from our side. A status that has arrived still counts. */
  end(errorClass: ErrorClass, message: string): void {
    this.#finish(new ConnectionFailure(errorClass, message, this.connection?.socket?.remoteAddress))
    this.#controller?.abort(new Error(message))
  }

  /** Ends it without a result, if nothing has left yet. */
  recall(): void {
    if (this.#controller || this.#isOver) return
    this.#isOver = true
    this.#settle({ result: undefined, hasStarted: false, failure: undefined })
  }

  interrupt(): void {
    this.recall()
    if (!this.#isOver) this.end('interrupted', 'the worker was stopped')
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    const hasStarted = this.#controller !== undefined
    if (this.#answer) this.#settle({ result: this.#answer, hasStarted, failure: undefined })
    else this.#settle({ result: { kind: 'error', errorClass: errorClassOf(failure) }, hasStarted, failure })
  }
}
