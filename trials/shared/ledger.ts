import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  draftPackage,
  freshId,
  type Answer,
  type DraftOptions,
  type Organization,
  type PackageDraft,
  type RequestOptions,
} from '@agent-exchange/testkit'

/** Timeout of a request. */
const ANSWER_LIMIT_MS = 45_000
const SAME_BYTES = 'an exact retry must return the same bytes'

/** A package with the idempotency keys of its requests, so that they can be retried. */
export interface Attempt {
  readonly from: Organization
  readonly to: Organization
  readonly draft: PackageDraft
  readonly receiptKey: string
  readonly packageKey: string
  /** The body of the first 201 response. */
  receiptAnswer: string | undefined
  /** The body of the first 202 response. */
  answer: string | undefined
  /** The failed requests: status and code, or the connection error. */
  readonly failures: string[]
}

/** All attempts in order. */
export type Ledger = Attempt[]

export async function newAttempt(
  from: Organization,
  to: Organization,
  { threadId = freshId('thread'), plaintext }: Pick<DraftOptions, 'threadId' | 'plaintext'> = {},
): Promise<Attempt> {
  return {
    from,
    to,
    draft: await draftPackage(from, to, { threadId, ...(plaintext && { plaintext }) }),
    receiptKey: randomUUID(),
    packageKey: randomUUID(),
    receiptAnswer: undefined,
    answer: undefined,
    failures: [],
  }
}

interface SendOptions {
  /** The URL of another replica. */
  readonly at?: string | undefined
  readonly limitMs?: number
}

/** Sends or retries receipt and package with their idempotency keys. Undefined: no success. */
export async function send(attempt: Attempt, at?: string): Promise<Answer | undefined> {
  return (await sendReceipt(attempt, { at })) && sendPackage(attempt, { at })
}

export async function sendReceipt(attempt: Attempt, options: SendOptions = {}): Promise<Answer | undefined> {
  const { from, draft, receiptKey: idempotencyKey } = attempt
  const answer = await tryRequest(attempt, options, (more) =>
    from.post('/v1/policy-receipts', draft.receipt, { idempotencyKey, ...more }),
  )
  if (answer?.status !== 201) return undefined
  attempt.receiptAnswer ??= answer.text
  assert.equal(answer.text, attempt.receiptAnswer, SAME_BYTES)
  return answer
}

export async function sendPackage(attempt: Attempt, options: SendOptions = {}): Promise<Answer | undefined> {
  const { from, draft, packageKey: idempotencyKey } = attempt
  const answer = await tryRequest(attempt, options, (more) =>
    from.post('/v1/packages', draft.body, { idempotencyKey, ...more }),
  )
  if (answer?.status !== 202) return undefined
  attempt.answer ??= answer.text
  assert.equal(answer.text, attempt.answer, SAME_BYTES)
  return answer
}

async function tryRequest(
  attempt: Attempt,
  { at, limitMs = ANSWER_LIMIT_MS }: SendOptions,
  request: (options: RequestOptions) => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    const answer = await request({ signal: AbortSignal.timeout(limitMs), ...(at && { at }) })
    if (answer.status >= 300) attempt.failures.push(`${answer.status} ${String(answer.body['code'])}`)
    // An internal failure must never be reported as an error of the caller.
    if (answer.status >= 400 && answer.status < 500) throw new Refused(answer.text)
    return answer
  } catch (error) {
    if (error instanceof Refused) throw error
    attempt.failures.push(reasonOf(error))
    return undefined
  }
}

class Refused extends Error {}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause : error
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name
}

/** Counts the failures by kind: `3 ECONNRESET, 1 500 internal_error`. */
export function summarize(attempts: readonly Attempt[]): string {
  const counts = new Map<string, number>()
  for (const failure of attempts.flatMap(({ failures }) => failures))
    counts.set(failure, (counts.get(failure) ?? 0) + 1)
  return [...counts].map(([failure, count]) => `${count} ${failure}`).join(', ') || 'none'
}

export interface LoadOptions {
  readonly pairs: readonly (readonly [from: Organization, to: Organization])[]
  readonly clients: number
  /** Maximum number of attempts per client. */
  readonly attempts: number
  /** URLs of replicas to spread the requests over. */
  readonly at?: readonly string[]
  /** Each attempt uses the next pair and a new thread; otherwise a client keeps its pair and thread. */
  readonly eachAttempt?: boolean
}

export interface Load {
  /** Resolves when every client has finished. */
  readonly finished: Promise<unknown>
  stop(): Promise<void>
}

/** Starts concurrent clients, each of which sends one package after the other. */
export function startLoad(ledger: Ledger, options: LoadOptions): Load {
  const threads = Array.from({ length: options.clients }, () => freshId('thread'))
  return startClients(options.clients, async (number, turn) => {
    if (turn === options.attempts) return false
    const pair = options.eachAttempt ? number * options.attempts + turn : number
    const [from, to] = options.pairs[pair % options.pairs.length] ?? []
    if (!from || !to) return false
    const threadId = threads[number]
    const attempt = await newAttempt(from, to, options.eachAttempt || !threadId ? {} : { threadId })
    ledger.push(attempt)
    await send(attempt, options.at?.[(number + turn) % options.at.length])
    return true
  })
}

/** Starts concurrent clients that take turns until `takeTurn` returns false or the load is stopped. */
export function startClients(
  count: number,
  takeTurn: (client: number, turn: number) => Promise<boolean>,
): Load {
  let isStopped = false
  const client = async (number: number) => {
    for (let turn = 0; !isStopped; turn++) if (!(await takeTurn(number, turn))) return
  }
  const clients = Promise.all(Array.from({ length: count }, (_, number) => client(number)))
  // Awaited by `stop`; this avoids an unhandled rejection until then.
  clients.catch(() => undefined)
  return {
    finished: clients,
    stop: async () => {
      isStopped = true
      await clients
    },
  }
}
