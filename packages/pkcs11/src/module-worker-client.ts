import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  READY,
  type CallName,
  type CallReply,
  type CallRequest,
  type ModuleCalls,
  type WorkerSettings,
} from './module-calls.ts'
import { ModuleError, type ModuleErrorCode } from './module-error.ts'
import {
  CALL_TIMEOUT_MS,
  CLOSE_TIMEOUT_MS,
  MAXIMUM_CALLS_IN_FLIGHT,
  MAXIMUM_HUNG_THREADS,
  MAXIMUM_QUEUED_CALLS,
  START_TIMEOUT_MS,
} from './pkcs11-limits.ts'

/** After each call, for metrics. */
export type CallObserver = (call: {
  readonly name: CallName
  readonly seconds: number
  readonly failure: ModuleErrorCode | undefined
}) => void

export interface ClientSettings extends Omit<WorkerSettings, 'refusedPin'> {
  readonly timeoutMs?: number
  readonly maximumQueued?: number
  readonly onCall?: CallObserver
}

interface Waiting {
  readonly name: CallName
  readonly input: object
  readonly since: number
  readonly resolve: (output: unknown) => void
  readonly reject: (error: ModuleError) => void
}

/** Threads in this process by library, hung ones included: a library is initialized once for all of them. */
const threads = new Map<string, number>()

/**
 * Calls of the module in a thread of their own, one after the other. A call that takes too long ends for its caller; the
 * thread is given up, and the next call starts another one.
 */
export class ModuleWorkerClient {
  readonly #settings: ClientSettings
  readonly #timeoutMs: number
  readonly #queue: Waiting[] = []
  readonly #inFlight = new Map<number, Waiting>()
  #worker: Worker | undefined
  #isReady = false
  #timer: NodeJS.Timeout | undefined
  #number = 0
  #hung = 0
  #refusedPin: string | undefined
  #isClosed = false

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#timeoutMs = settings.timeoutMs ?? CALL_TIMEOUT_MS
  }

  call<Name extends CallName>(
    name: Name,
    input: ModuleCalls[Name]['input'],
  ): Promise<ModuleCalls[Name]['output']> {
    const since = performance.now()
    return new Promise<unknown>((resolve, reject) => {
      const fail = (error: ModuleError) => {
        this.#settings.onCall?.({ name, seconds: secondsSince(since), failure: error.code })
        reject(error)
      }
      const succeed = (output: unknown) => {
        this.#settings.onCall?.({ name, seconds: secondsSince(since), failure: undefined })
        resolve(output)
      }
      const refusal = this.#refusal()
      if (refusal) return fail(new ModuleError(refusal))
      this.#queue.push({ name, input, since, resolve: succeed, reject: fail })
      this.#send()
    }) as Promise<ModuleCalls[Name]['output']>
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const worker = this.#worker
    this.#release('module_closed')
    if (!worker) return
    const ended = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('close')
    const late = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT_MS)
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 2 * CLOSE_TIMEOUT_MS).unref())])
    clearTimeout(late)
  }

  #refusal(): ModuleErrorCode | undefined {
    if (this.#isClosed) return 'module_closed'
    if (this.#hung >= MAXIMUM_HUNG_THREADS) return 'module_timeout'
    const maximum = this.#settings.maximumQueued ?? MAXIMUM_QUEUED_CALLS
    return this.#queue.length >= maximum ? 'module_busy' : undefined
  }

  #send(): void {
    while (this.#inFlight.size < MAXIMUM_CALLS_IN_FLIGHT) {
      const next = this.#queue.shift()
      if (!next) break
      if (performance.now() - next.since > this.#timeoutMs) {
        next.reject(new ModuleError('module_busy'))
        continue
      }
      const number = (this.#number += 1)
      const worker = (this.#worker ??= this.#start())
      const isAlone = threads.get(this.#settings.module) === 1
      this.#inFlight.set(number, next)
      this.#timer ??= this.#startTimer()
      worker.postMessage({ number, name: next.name, input: next.input, isAlone } satisfies CallRequest)
    }
  }

  #start(): Worker {
    const { module, token, pinFile, binding } = this.#settings
    const file = new URL(`module-worker${extname(import.meta.url)}`, import.meta.url)
    const workerData: WorkerSettings = { module, token, pinFile, binding, refusedPin: this.#refusedPin }
    const worker = new Worker(file, { workerData, name: 'pkcs11' })
    threads.set(module, (threads.get(module) ?? 0) + 1)
    // Calls in flight keep the process alive by their timer.
    worker.unref()
    worker.on('message', (message: CallReply | typeof READY) => {
      if (worker !== this.#worker) return
      if (message === READY) this.#begin()
      else this.#receive(message)
    })
    worker.on('error', () => this.#lose(worker))
    worker.once('exit', () => {
      threads.set(module, (threads.get(module) ?? 1) - 1)
      this.#lose(worker)
    })
    return worker
  }

  #begin(): void {
    this.#isReady = true
    if (this.#timer) {
      this.#stopTimer()
      this.#timer = this.#startTimer()
    }
  }

  #receive(reply: CallReply): void {
    const waiting = this.#inFlight.get(reply.number)
    this.#inFlight.delete(reply.number)
    if (this.#inFlight.size === 0) this.#stopTimer()
    else this.#timer?.refresh()
    if ('failure' in reply) {
      this.#refusedPin = reply.failure.refusedPin
      waiting?.reject(new ModuleError(reply.failure.code, { returned: reply.failure.returned }))
    } else waiting?.resolve(reply.output)
    this.#send()
  }

  /** The thread is inside the module and may stay there: it ends when the module returns. */
  #giveUp(): void {
    const worker = this.#worker
    if (!worker) return
    this.#hung += 1
    worker.once('exit', () => (this.#hung -= 1))
    void worker.terminate()
    this.#release('module_timeout')
  }

  /** The thread ended by itself. */
  #lose(worker: Worker): void {
    if (worker === this.#worker) this.#release('module_unavailable')
  }

  #release(code: ModuleErrorCode): void {
    this.#worker = undefined
    this.#isReady = false
    this.#stopTimer()
    const lost = [...this.#inFlight.values(), ...this.#queue.splice(0)]
    this.#inFlight.clear()
    for (const { reject } of lost) reject(new ModuleError(code))
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(() => this.#giveUp(), this.#isReady ? this.#timeoutMs : START_TIMEOUT_MS)
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

function secondsSince(start: number): number {
  return (performance.now() - start) / 1_000
}
