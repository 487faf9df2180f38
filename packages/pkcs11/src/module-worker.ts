import { parentPort, workerData } from 'node:worker_threads'
import {
  READY,
  type CallFailure,
  type CallName,
  type CallReply,
  type CallRequest,
  type WorkerSettings,
} from './module-calls.ts'
import { MODULE_OPERATIONS } from './module-operations.ts'
import { ModuleSession } from './module-session.ts'
import { toModuleError } from './return-values.ts'

/** A lost session fails these before they have an effect, so they are repeated once on a new one. */
const REPEATABLE: ReadonlySet<CallName> = new Set(['check', 'find', 'list', 'sign', 'agree', 'destroy'])

const session = new ModuleSession(workerData as WorkerSettings)

function run({ name, input }: CallRequest): unknown {
  const operation = MODULE_OPERATIONS[name] as (session: ModuleSession, input: object) => unknown
  return operation(session, input)
}

/** Closes a session that was lost. The next call looks for a missing token again. */
function attempt(request: CallRequest): unknown {
  try {
    return run(request)
  } catch (error) {
    const failure = toModuleError(error)
    if (failure.retryable) session.close(request.isAlone)
    throw failure
  }
}

function answer(request: CallRequest): unknown {
  const wasOpen = session.isOpen
  try {
    return attempt(request)
  } catch (error) {
    if (!wasOpen || session.isOpen || !REPEATABLE.has(request.name)) throw error
    return attempt(request)
  }
}

function failureOf(error: unknown): CallFailure {
  const { code, returned } = toModuleError(error)
  return { code, returned, refusedPin: session.refusedPin }
}

parentPort?.on('message', (request: CallRequest | 'close') => {
  if (request === 'close') {
    session.close(false)
    return parentPort?.close()
  }
  const { number } = request
  let reply: CallReply
  try {
    reply = { number, output: answer(request) }
  } catch (error) {
    reply = { number, failure: failureOf(error) }
  }
  parentPort?.postMessage(reply)
})
parentPort?.postMessage(READY)
