import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** Functions that a process offers to another. Values are structured clones. */
export type CallTable = Record<string, (...args: never[]) => unknown>

interface Request {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

type Reply = { readonly id: number } & ({ readonly result: unknown } | { readonly failure: string })

const END_LIMIT_MS = 5_000
const running = new Set<ChildProcess>()
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')))

export interface Helper<Calls extends CallTable> extends AsyncDisposable {
  readonly pid: number
  call<Name extends keyof Calls & string>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<Awaited<ReturnType<Calls[Name]>>>
}

/** Starts a module in a child process that ends with this process. */
export function startHelper<Calls extends CallTable>(
  module: URL,
  env: Readonly<Record<string, string>> = {},
): Helper<Calls> {
  const child = fork(module, {
    execArgv: ['--conditions=source'],
    serialization: 'advanced',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  running.add(child)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id)
    waiting.delete(reply.id)
    if ('failure' in reply) call?.reject(new Error(reply.failure))
    else call?.resolve(reply.result)
  })
  child.once('exit', (code, signal) => {
    running.delete(child)
    for (const call of waiting.values()) call.reject(new Error(`a helper ended (${signal ?? code})`))
  })
  return {
    pid: child.pid ?? 0,
    call(name, ...args) {
      const call = Promise.withResolvers<unknown>()
      waiting.set(++last, call)
      child.send({ id: last, name, args } satisfies Request)
      return call.promise as Promise<never>
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.disconnect()
      const limit = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS)
      await ended
      clearTimeout(limit)
    },
  }
}

/** The child process: answers calls until the parent ends. */
export function answerCalls(table: CallTable): void {
  process.on('message', ({ id, name, args }: Request) => {
    void answer(id, async () => (table[name] as (...given: readonly unknown[]) => unknown)(...args))
  })
  process.once('disconnect', () => process.exit())
}

const send = (reply: Reply) => process.send?.(reply)

async function answer(id: number, work: () => Promise<unknown>): Promise<void> {
  try {
    send({ id, result: await work() })
  } catch (error) {
    send({ id, failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
