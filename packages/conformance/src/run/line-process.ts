import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { parseObject } from '../wire/wire.ts'

/** A program that reads one JSON object a line and answers each with one JSON object on a line of its own. */
export interface LineProcess extends AsyncDisposable {
  ask(question: object): Promise<Readonly<Record<string, unknown>>>
}

const ANSWER_LIMIT_MS = 60_000
const END_LIMIT_MS = 10_000
/** The end of what a program wrote to standard error, for the message if it ends too early. */
const MAXIMUM_ERROR_CHARACTERS = 2_000

/** One process for all questions. They are asked one after the other. */
export function startLineProcess([program = '', ...words]: readonly string[]): LineProcess {
  const child = spawn(program, words, { stdio: 'pipe' })
  const ended = endOf(child, program)
  const answers: AsyncIterator<string> = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  // A program that ended is noticed by the missing answer.
  child.stdin.on('error', () => undefined)
  let last: Promise<unknown> = Promise.resolve()
  const ask = async (question: object) => {
    child.stdin.write(`${JSON.stringify(question)}\n`)
    const limit = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => limit.reject(new Error(`${program} gave no answer within ${ANSWER_LIMIT_MS / 1_000} s`)),
      ANSWER_LIMIT_MS,
    )
    try {
      const next = await Promise.race([answers.next(), limit.promise])
      if (next.done) throw await ended
      return parseObject(next.value)
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    ask(question) {
      const answer = last.then(() => ask(question))
      last = answer.catch(() => undefined)
      return answer
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

/** The error of a program that ended although it was asked something. */
function endOf(child: ChildProcessWithoutNullStreams, program: string): Promise<Error> {
  let errors = ''
  child.stderr.on('data', (data) => (errors = (errors + String(data)).slice(-MAXIMUM_ERROR_CHARACTERS)))
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(new Error(`${program} could not be started: ${message}`)))
    child.on('close', (code) => {
      const said = errors.trim() === '' ? '' : `: ${errors.trim()}`
      resolve(new Error(`${program} ended with exit code ${code} before it answered${said}`))
    })
  })
}
