import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Dispatcher } from 'undici'
import { ConnectionFailure, errorClassOf } from './connection-failure.ts'
import type { AttemptResult, ErrorClass } from './classify-attempt.ts'
import { MAXIMUM_RESPONSE_BYTES } from './webhook-limits.ts'

/** The current socket of a client; replaced at each reconnect. */
export interface Connection {
  socket: TLSSocket | undefined
  /** Requests that were sent on this socket. */
  requests: number
}

export interface RequestOutcome {
  /** Undefined: the request was cancelled before it was sent, so there was no attempt. */
  readonly result: AttemptResult | undefined
  /** Whether any byte of the request may have been sent. */
  readonly hasStarted: boolean
  /**
   * Whether the receiver closed an idle connection at the moment it was used again: nothing was answered. The same request
   * may be sent once more, because receivers recognize a webhook that comes twice.
   */
  readonly wasStale: boolean
}

type SettledRequest = RequestOutcome & { readonly failure: unknown }

/** One webhook request as a handler of undici's events. The first decisive event settles it. */
export class WebhookRequest implements Dispatcher.DispatchHandler {
  readonly done: Promise<SettledRequest>
  connection: Connection | undefined
  readonly #settle: (ended: SettledRequest) => void
  #controller: Dispatcher.DispatchController | undefined
  #response: AttemptResult | undefined
  #isOver = false
  #isReused = false
  #bytes = 0

  constructor() {
    const { promise, resolve } = Promise.withResolvers<SettledRequest>()
    this.done = promise
    this.#settle = resolve
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isOver) controller.abort(new Error('the attempt is over'))
    else {
      this.#controller = controller
      if (this.connection) this.#isReused = this.connection.requests++ > 0
    }
  }

  onRequestUpgrade(): void {
    this.end('protocol', 'the receiver switched protocols')
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    // 1xx responses are interim (RFC 9110 section 15.2).
    if (status < 200) return
    this.#response = { kind: 'answer', status, retryAfter: headers['retry-after'] }
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > MAXIMUM_RESPONSE_BYTES) this.end('protocol', 'the response is too long')
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

  /** Aborts the request. A status that has already arrived still counts. */
  end(errorClass: ErrorClass, message: string): void {
    this.#finish(new ConnectionFailure(errorClass, message, this.connection?.socket?.remoteAddress))
    this.#controller?.abort(new Error(message))
  }

  /** Settles the request without a result unless sending has started. */
  cancelUnsent(): void {
    if (this.#controller || this.#isOver) return
    this.#isOver = true
    this.#settle({ result: undefined, hasStarted: false, wasStale: false, failure: undefined })
  }

  interrupt(): void {
    this.cancelUnsent()
    if (!this.#isOver) this.end('interrupted', 'the worker was stopped')
  }

  #finish(failure: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    const hasStarted = this.#controller !== undefined
    if (this.#response) {
      this.#settle({ result: this.#response, hasStarted, wasStale: false, failure: undefined })
      return
    }
    const errorClass = errorClassOf(failure)
    const wasStale = this.#isReused && errorClass === 'reset'
    this.#settle({ result: { kind: 'error', errorClass }, hasStarted, wasStale, failure })
  }
}
